"""Servers that cut connections off, or say what makes no sense."""

import asyncio
import os
import socket
import ssl
import struct
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from e2e.harness.pki import CertificateAuthority
from olm_runtime.http.proxied import http_client
from olm_runtime.proxies import Proxies

RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: what is not sent is thrown away."""
RECORD = b"\x17\x03\x03\x00\x20" + b"x" * 32
"""As long as it says and of the right kind, and encrypted with nobody's key."""
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"

NO_TRUST = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
IMPOSSIBLE = [
    "http://xn--a/",
    "http://a:99999/",
    "http://[::1/",
    "http:::1/",
]


class _SlowLoop(uvloop.Loop):
    """One with other work between a connection being made and being used."""

    async def create_connection(self, *arguments: Any, **options: Any) -> Any:
        made = await super().create_connection(*arguments, **options)
        await asyncio.sleep(0.2)
        return made


def fault(
    answer: Callable[[socket.socket], None],
    trust: ssl.SSLContext,
    *,
    bulk: bool = False,
    loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop,
) -> httpx.TransportError:
    """What a request ends with if each connection to the server is answered so."""

    async def ask(url: str) -> httpx.TransportError:
        timeout = httpx.Timeout(5.0)
        async with http_client(timeout, origin=trust, proxies=Proxies(), bulk=bulk) as client:
            with pytest.raises(httpx.TransportError) as raised:
                await client.get(url, follow_redirects=True)
        return raised.value

    with (
        ThreadPoolExecutor() as pool,
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        asyncio.Runner(loop_factory=loop) as runner,
    ):
        pool.submit(_answer_all, listener, answer)
        scheme = "https" if trust.get_ca_certs() else "http"
        try:
            return runner.run(ask(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/"))
        finally:
            listener.shutdown(socket.SHUT_RDWR)


def _answer_all(listener: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):  # nobody listens any more
        while True:
            answer(listener.accept()[0])


def test_a_connection_that_is_cut_off_at_once_is_a_fault_of_the_transport() -> None:
    """What anyio makes of it once ended cluster-version-operator."""

    def cut_off(accepted: socket.socket) -> None:
        time.sleep(0.02)
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        accepted.close()

    found = fault(cut_off, NO_TRUST, loop=_SlowLoop)
    assert isinstance(found, httpx.ConnectError)
    assert str(found) == "the server closed the connection"


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("sent", [b"", HEADERS], ids=["headers", "body"])
def test_a_record_that_is_none_is_a_fault_of_the_transport(
    tmp_path: Path, sent: bytes, bulk: bool
) -> None:
    authority = CertificateAuthority.load_or_create(tmp_path, "ca")
    files = authority.issue_server("server", hosts=["127.0.0.1"]).write(tmp_path, "server")
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(*files)

    def talk_nonsense(accepted: socket.socket) -> None:
        with own.wrap_socket(accepted, server_side=True) as secure:
            secure.recv(1000)
            secure.sendall(sent)
            with socket.socket(fileno=os.dup(secure.fileno())) as bare:
                bare.sendall(RECORD)
            secure.recv(1000)

    trust = ssl.create_default_context(cadata=authority.certificate.decode())
    assert "DECRYPTION_FAILED_OR_BAD_RECORD_MAC" in str(fault(talk_nonsense, trust, bulk=bulk))


@pytest.mark.parametrize("address", IMPOSSIBLE)
def test_a_redirect_to_an_address_that_cannot_be_is_a_fault_of_the_server(address: str) -> None:
    """httpx finds some of them, and lets errors of what it is made of through for others."""

    def redirect(accepted: socket.socket) -> None:
        with accepted:
            accepted.recv(1000)
            accepted.sendall(f"HTTP/1.1 302 Found\r\nLocation: {address}\r\n\r\n".encode())

    found = fault(redirect, NO_TRUST)
    assert isinstance(found, httpx.RemoteProtocolError)
    assert "the server redirects to an invalid address" in str(found)


@pytest.mark.parametrize("address", IMPOSSIBLE)
async def test_an_address_that_cannot_be_is_refused(address: str) -> None:
    async with http_client(httpx.Timeout(5.0), origin=NO_TRUST, proxies=Proxies()) as client:
        with pytest.raises((httpx.InvalidURL, httpx.UnsupportedProtocol)):
            await client.get(address)
