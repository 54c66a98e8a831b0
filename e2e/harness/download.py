"""The control plane's programs as their projects publish them, for machines with internet.

Each file is checked against the digest that is published with it, before it gets its final
name. Anything that goes wrong means that there is no download: the build is the way then. On a
machine without internet that is known after `CONNECT_SECONDS`.
"""

import hashlib
import io
import os
import platform
import re
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx

KUBERNETES_URL = "https://dl.k8s.io/{version}/bin/{platform}"
ETCD_URL = "https://github.com/etcd-io/etcd/releases/download/{version}"
KUBERNETES_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kubectl")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

CONNECT_SECONDS = 3.0
READ_SECONDS = 60.0
SWITCH = "OLMV1_NO_DOWNLOAD"


class DownloadFailed(Exception):  # noqa: N818 - a state, as in e2e.harness.errors
    """The programs cannot be had this way; the message says why."""


def downloaded(
    cache: Path,
    *,
    kubernetes: str,
    etcd: str,
    environment: Mapping[str, str] = os.environ,
) -> Path | None:
    """The folder with all programs, from the cache or downloaded now; None where it cannot be.

    `kubernetes` and `etcd` are versions with `v`. OLMV1_NO_DOWNLOAD=1 switches downloading off.
    """
    architecture = ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or architecture is None:
        return None
    target = cache / f"{kubernetes}-linux-{architecture}"
    if target.is_dir():
        return target
    if environment.get(SWITCH) == "1":
        return None
    try:
        fetch(target, kubernetes=kubernetes, etcd=etcd, architecture=architecture)
    except (DownloadFailed, httpx.HTTPError, tarfile.TarError) as error:
        reason = str(error) or type(error).__name__
        print(f"control plane: not downloaded ({reason})", file=sys.stderr, flush=True)
        return None
    return target


def fetch(
    target: Path,
    *,
    kubernetes: str,
    etcd: str,
    architecture: str,
    kubernetes_url: str = KUBERNETES_URL,
    etcd_url: str = ETCD_URL,
) -> None:
    """Downloads into `target`, which appears complete or not at all.

    Raises DownloadFailed, httpx.HTTPError, tarfile.TarError.
    """
    base = kubernetes_url.format(version=kubernetes, platform=f"linux/{architecture}")
    releases = etcd_url.format(version=etcd)
    target.parent.mkdir(parents=True, exist_ok=True)
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    with (
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".download-") as name,
        httpx.Client(timeout=timeout, follow_redirects=True) as client,
    ):
        folder = Path(name) / "programs"
        folder.mkdir()
        for program in KUBERNETES_PROGRAMS:
            digest = _get(client, f"{base}/{program}.sha256").decode().split()[0]
            content = _checked(program, _get(client, f"{base}/{program}"), digest)
            _write(folder / program, content)
        archive = f"etcd-{etcd}-linux-{architecture}.tar.gz"
        digest = _digest_of(archive, _get(client, f"{releases}/SHA256SUMS").decode())
        content = _checked(archive, _get(client, f"{releases}/{archive}"), digest)
        _write(folder / "etcd", _member(content, "etcd"))
        folder.rename(target)


def _get(client: httpx.Client, url: str) -> bytes:
    print(f"control plane: downloading {url}", file=sys.stderr, flush=True)
    return client.get(url).raise_for_status().content


def _checked(name: str, content: bytes, digest: str) -> bytes:
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        raise DownloadFailed(f"{name} has SHA-256 {found}, published is {digest}")
    return content


def _digest_of(archive: str, sums: str) -> str:
    found = re.search(rf"^([0-9a-f]{{64}})\s+\*?{re.escape(archive)}$", sums, re.MULTILINE)
    if found is None:
        raise DownloadFailed(f"no SHA-256 is published for {archive}")
    return found[1]


def _member(archive: bytes, name: str) -> bytes:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as files:
        for entry in files:
            if entry.isfile() and entry.name.rpartition("/")[2] == name:
                content = files.extractfile(entry)
                if content is not None:
                    return content.read()
    raise DownloadFailed(f"the archive has no {name}")


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o755)
