"""Content of catalogs from a server of HTTPS: only what is of the digest is taken."""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_catalogs.io import served
from olm_catalogs.io.served import CONTENT, take
from olm_catalogs.job import ServedCatalogs

DIGEST = f"sha256:{'a' * 64}"
BODY = b'{"schema":"olm.package","name":"p"}\n'


@dataclass
class Catalogd:
    """What a server answers to every request."""

    url: str = ""
    authorities: str = ""
    code: int = 200
    headers: dict[str, str] = field(
        default_factory=lambda: {"Olm-Resolved-Source": f"example.com/c@{DIGEST}"}
    )
    asked: list[str] = field(default_factory=list)

    def taken(self, folder: Path, *, most: int = 1000, authorities: str = "") -> str:
        known = {DIGEST: self.url}
        served = ServedCatalogs(urls=known, authorities=authorities or self.authorities)
        return asyncio.run(take(served, DIGEST, folder, most=most))


@pytest.fixture
def catalogd(tmp_path: Path) -> Iterator[Catalogd]:
    answers = Catalogd()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.asked.append(self.path)
            self.send_response(answers.code)
            for name, value in {**answers.headers, "Content-Length": str(len(BODY))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(BODY)

        def log_message(self, *_: object) -> None:
            pass

    authority = CertificateAuthority.load_or_create(tmp_path, "ca")
    authority.issue_server("server", hosts=["127.0.0.1"]).write(tmp_path, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.crt", tmp_path / "server.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    answers.url = f"https://127.0.0.1:{server.server_address[1]}/catalogs/c"
    answers.authorities = authority.certificate.decode()
    yield answers
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_content_of_a_digest(catalogd: Catalogd, tmp_path: Path) -> None:
    folder = tmp_path / "work" / "served"
    assert catalogd.taken(folder) == catalogd.url
    assert (folder / CONTENT).read_bytes() == BODY
    assert catalogd.asked == ["/catalogs/c/api/v1/all"]
    served = ServedCatalogs(urls={"sha256:other": catalogd.url})
    assert asyncio.run(take(served, DIGEST, folder, most=1000)) == ""
    assert len(catalogd.asked) == 1


@pytest.mark.parametrize(
    ("change", "most", "why"),
    [
        ({"headers": {}}, 1000, "content of an image that it does not name"),
        ({"headers": {"Olm-Resolved-Source": "c@sha256:other"}}, 1000, "it has c@sha256:other"),
        ({"code": 404}, 1000, "it answered 404"),
        ({}, 10, "more than 10 bytes"),
        ({"authorities": "no PEM"}, 1000, ""),
        ({"url": "https://127.0.0.1:1/catalogs/c"}, 1000, "refused"),
    ],
)
def test_anything_else_is_pulled(
    catalogd: Catalogd,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    change: dict[str, object],
    most: int,
    why: str,
) -> None:
    for name, value in change.items():
        setattr(catalogd, name, value)
    folder = tmp_path / "served"
    assert catalogd.taken(folder, most=most) == ""
    assert not folder.exists()
    [said] = [text for name, _, text in caplog.record_tuples if name == served.__name__]
    assert why in said


def test_a_server_that_others_vouch_for_is_not_asked(catalogd: Catalogd, tmp_path: Path) -> None:
    other = CertificateAuthority.load_or_create(tmp_path, "other").certificate.decode()
    assert catalogd.taken(tmp_path / "served", authorities=other) == ""
    assert catalogd.asked == []
