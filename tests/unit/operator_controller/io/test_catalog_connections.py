"""Requests to catalogd over real TLS: through proxies and past them, and with CAs that change."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.pki import CertificateAuthority
from operator_controller.io.catalog_addresses import Address, CatalogUnavailableError
from operator_controller.io.catalogd import Catalogd

NAME = "catalogs.test"
BLOB = b'{"schema":"olm.package","name":"p"}'
USER = "me:secret"


class Catalogs(BaseHTTPRequestHandler):
    """Answers every request with one package; a connection stays open for the next one."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(BLOB)))
        self.end_headers()
        self.wfile.write(BLOB)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def serving(authority: CertificateAuthority, folder: Path, port: int = 0) -> Iterator[int]:
    """An HTTPS server with a certificate of that authority, on a port of this machine."""
    pair = authority.issue_server("catalogd", hosts=[NAME, "127.0.0.1"])
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*pair.write(folder, "server"))
    with ThreadingHTTPServer(("127.0.0.1", port), Catalogs) as server:
        server.daemon_threads = True
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def cas(tmp_path: Path) -> Path:
    folder = tmp_path / "cas"
    folder.mkdir()
    return folder


@pytest.fixture
def port(tmp_path: Path, cas: Path) -> Iterator[int]:
    """A server that is trusted."""
    authority = CertificateAuthority.create("one")
    (cas / "ca.crt").write_bytes(authority.certificate)
    with serving(authority, tmp_path) as port:
        yield port


async def ask(catalogd: Catalogd, port: int, host: str = NAME) -> tuple[bytes, ...]:
    address = Address("c", f"https://{host}:{port}/catalogs/c", source="r/c@sha256:1")
    found = await catalogd.package(address, "p")
    return found.lines if found else ()


async def test_the_proxy_is_asked_for_a_tunnel(
    port: int, cas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogd = Catalogd(cas)
    async with ForwardProxy(user=USER) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{USER}@{proxy.address}")
        assert await ask(catalogd, port) == (BLOB,)
        await catalogd.close()
    assert proxy.asked == [f"CONNECT {NAME}:{port}"]


@pytest.mark.parametrize(
    ("host", "exceptions"),
    [("127.0.0.1", ""), (NAME, ".test"), (NAME, "catalogs.test"), (NAME, "*")],
)
async def test_no_proxy_and_this_machine_are_excepted(
    port: int, cas: Path, monkeypatch: pytest.MonkeyPatch, host: str, exceptions: str
) -> None:
    catalogd = Catalogd(cas)
    async with ForwardProxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
        monkeypatch.setenv("NO_PROXY", exceptions)
        if host == NAME:  # which nobody but the proxy knows
            with pytest.raises(CatalogUnavailableError, match=NAME):
                await ask(catalogd, port, host)
        else:
            assert await ask(catalogd, port, host) == (BLOB,)
        await catalogd.close()
    assert proxy.asked == []


async def test_a_proxy_in_the_way_is_named_without_its_password(
    port: int, cas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogd = Catalogd(cas)
    async with ForwardProxy(user=USER) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:wrong@{proxy.address}")
        with pytest.raises(CatalogUnavailableError) as caught:
            await ask(catalogd, port)
        await catalogd.close()
    message = f"proxyconnect: proxy http://{proxy.address} refuses: 407"
    assert message in caught.value.message
    assert "wrong" not in caught.value.message


async def test_a_proxy_that_is_not_there_is_named_as_upstream_does(
    port: int, cas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Source: upstream's end-to-end suite, which looks for the word `proxyconnect`."""
    catalogd = Catalogd(cas)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    message = "proxyconnect: proxy http://127.0.0.1:1: connection refused"
    with pytest.raises(CatalogUnavailableError, match=message):
        await ask(catalogd, port)
    await catalogd.close()


async def test_a_ca_that_is_rotated_is_believed_at_the_next_request(
    tmp_path: Path, cas: Path
) -> None:
    old, new = CertificateAuthority.create("old"), CertificateAuthority.create("new")
    (cas / "ca.crt").write_bytes(old.certificate)
    catalogd = Catalogd(cas)
    with serving(old, tmp_path) as port:
        assert await ask(catalogd, port, "127.0.0.1") == (BLOB,)
    with serving(new, tmp_path) as port:
        with pytest.raises(CatalogUnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
            await ask(catalogd, port, "127.0.0.1")
        (cas / "ca.crt").write_bytes(new.certificate)
        assert await ask(catalogd, port, "127.0.0.1") == (BLOB,)
    await catalogd.close()


async def test_a_second_ca_beside_the_first_bridges_a_rotation(port: int, cas: Path) -> None:
    catalogd = Catalogd(cas)
    assert await ask(catalogd, port, "127.0.0.1") == (BLOB,)
    (cas / "next.crt").write_bytes(CertificateAuthority.create("next").certificate)
    assert await ask(catalogd, port, "127.0.0.1") == (BLOB,)
    (cas / "ca.crt").unlink()
    with pytest.raises(CatalogUnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
        await ask(catalogd, port, "127.0.0.1")
    await catalogd.close()
