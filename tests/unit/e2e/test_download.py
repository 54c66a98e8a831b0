"""Downloading the control plane, from a server on loopback in place of the projects' own."""

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from e2e.harness.download import KUBERNETES_PROGRAMS, DownloadFailed, downloaded, fetch

ETCD = "etcd-v3.6.4-linux-amd64"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The files as the projects publish them."""
    root = tmp_path / "site"
    root.mkdir()
    for program in KUBERNETES_PROGRAMS:
        (root / program).write_bytes(program.encode())
        digest = hashlib.sha256(program.encode()).hexdigest()
        (root / f"{program}.sha256").write_text(digest)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo(f"{ETCD}/etcd")
        entry.size = 4
        archive.addfile(entry, io.BytesIO(b"etcd"))
    (root / f"{ETCD}.tar.gz").write_bytes(buffer.getvalue())
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    (root / "SHA256SUMS").write_text(f"{digest}  {ETCD}.tar.gz\n")
    return root


@pytest.fixture
def url(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def run(target: Path, url: str) -> None:
    fetch(
        target,
        kubernetes="v1.34.4",
        etcd="v3.6.4",
        architecture="amd64",
        kubernetes_url=url,
        etcd_url=url,
    )


def test_all_programs_are_there_and_executable(url: str, tmp_path: Path) -> None:
    run(tmp_path / "programs", url)
    found = {path.name: path for path in (tmp_path / "programs").iterdir()}
    assert sorted(found) == sorted([*KUBERNETES_PROGRAMS, "etcd"])
    assert found["etcd"].read_bytes() == b"etcd"
    assert all(path.stat().st_mode & 0o111 for path in found.values())


@pytest.mark.parametrize("changed", ["kube-apiserver", f"{ETCD}.tar.gz"])
def test_content_that_is_not_what_was_published_is_refused_and_leaves_nothing(
    changed: str, url: str, site: Path, tmp_path: Path
) -> None:
    (site / changed).write_bytes(b"something else")
    with pytest.raises(DownloadFailed, match="SHA-256"):
        run(tmp_path / "cache" / "programs", url)
    assert list((tmp_path / "cache").iterdir()) == []


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    off = {"OLMV1_NO_DOWNLOAD": "1"}
    assert downloaded(tmp_path, kubernetes="v1.34.4", etcd="v3.6.4", environment=off) is None
