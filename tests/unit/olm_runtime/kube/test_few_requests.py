"""Requests of commands, over servers that do what real ones rarely do."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
import uvloop

from e2e.harness.pki import CertificateAuthority
from olm_runtime.kube import few_requests
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import Bounds, UnreachableError
from olm_runtime.kube.few_requests import FewRequests

BOUNDS = Bounds(connect=5.0, total=5.0)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Counts connections; `answers` are what it says to one request after the other.

    After an answer that is empty, and after the last one of a connection, it hangs up.
    """

    def __init__(self, *connections: list[bytes]) -> None:
        self.left = list(connections)
        self.asked: list[bytes] = []
        self.connections = 0
        self.hung_up = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        for answer in self.left.pop(0):
            self.asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
        writer.close()
        self.hung_up.set()


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[tuple[FewRequests, str]]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    requests = FewRequests(ClusterAccess(server=url))
    try:
        yield requests, url
    finally:
        await requests.close()
        server.close()


async def test_one_connection_carries_one_request_after_the_other() -> None:
    server = Server([OK, OK, OK])
    async with served(server.serve) as (requests, url):
        for _ in range(3):
            reply = await requests.send("GET", f"{url}/api?a=b", [("Accept", "x")], None, BOUNDS)
            assert (reply.status, reply.reason, reply.content) == (200, "OK", b"{}")
    assert server.connections == 1
    lines = server.asked[0].decode().split("\r\n")
    assert lines[0] == "GET /api?a=b HTTP/1.1"
    assert f"Host: {url.removeprefix('http://')}" in lines
    assert "Accept: x" in lines


def test_it_asks_on_uvloop_too() -> None:
    async def ask() -> None:
        async with served(Server([OK]).serve) as (requests, url):
            assert (await requests.send("GET", url, [], None, BOUNDS)).status == HTTPStatus.OK

    uvloop.run(ask())


async def test_what_was_closed_unused_is_asked_again_elsewhere() -> None:
    server = Server([OK], [OK])
    async with served(server.serve) as (requests, url):
        await requests.send("GET", url, [], None, BOUNDS)
        await server.hung_up.wait()
        assert (await requests.send("GET", url, [], None, BOUNDS)).status == 200
    assert server.connections == 2


async def test_only_what_changes_nothing_is_asked_twice() -> None:
    server = Server([OK, b""], [OK, b""], [OK])
    async with served(server.serve) as (requests, url):
        await requests.send("GET", url, [], None, BOUNDS)
        assert (await requests.send("GET", url, [], None, BOUNDS)).status == 200
        with pytest.raises(UnreachableError, match="the server closed the connection"):
            await requests.send("POST", url, [], b"{}", BOUNDS)
    assert server.connections == 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "closed", id="cut short"),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{", "closed"),
        pytest.param(b"rubbish\r\n\r\n", "breaks HTTP", id="no HTTP"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
            "cannot be unpacked",
            id="no gzip",
        ),
    ],
)
async def test_an_answer_that_is_not_whole_is_none(answer: bytes, said: str) -> None:
    server = Server([answer])
    async with served(server.serve) as (requests, url):
        with pytest.raises(UnreachableError, match=said):
            await requests.send("GET", url, [], None, BOUNDS)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 99_000, id="as long as the connection"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
            % len(packed := gzip.compress(b"x" * 99_000))
            + packed,
            id="packed",
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + b"".join(b"%x\r\n%s\r\n" % (33_000, b"x" * 33_000) for _ in range(3))
            + b"0\r\n\r\n",
            id="in chunks",
        ),
    ],
)
async def test_content_comes_whole(answer: bytes) -> None:
    async with served(Server([answer]).serve) as (requests, url):
        reply = await requests.send("GET", url, [], None, BOUNDS)
    assert reply.content == b"x" * 99_000


async def test_many_requests_share_few_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_requests, "MAX_CONNECTIONS", 2)
    server = Server([OK] * 20, [OK] * 20)
    async with served(server.serve) as (requests, url):
        asked = (requests.send("GET", url, [], None, BOUNDS) for _ in range(20))
        assert {reply.status for reply in await asyncio.gather(*asked)} == {200}
    assert server.connections == 2


async def test_a_server_that_is_stuck_holds_nothing() -> None:
    gone = asyncio.Event()

    async def stuck(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.read(1 << 16):
                pass
        except ConnectionError:
            pass
        writer.close()
        gone.set()

    async with served(stuck) as (requests, url):
        with pytest.raises(TimeoutError):
            await requests.send("GET", url, [], None, Bounds(connect=5.0, total=0.05))
        await asyncio.wait_for(gone.wait(), 60.0)
        gone.clear()
        asking = asyncio.create_task(requests.send("GET", url, [], None, BOUNDS))
        await asyncio.sleep(0.05)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.wait_for(gone.wait(), 60.0)


async def test_headers_smuggle_no_others() -> None:
    async with served(Server().serve) as (requests, url):
        with pytest.raises(UnreachableError, match="line break"):
            await requests.send("GET", url, [("Impersonate-User", "a\r\nX: y")], None, BOUNDS)


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_that_is_not_trusted_is_reported_as_such(
    tmp_path: Path, *, trusted: bool
) -> None:
    authority, other = (CertificateAuthority.create(name) for name in ("mine", "other"))
    files = authority.issue_server("localhost", hosts=["127.0.0.1"]).write(tmp_path, "server")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)
    server = await asyncio.start_server(Server([OK]).serve, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    known = (authority if trusted else other).pair.certificate.decode()
    requests = FewRequests(ClusterAccess(server=url, authority=known))
    try:
        if trusted:
            assert (await requests.send("GET", url, [], None, BOUNDS)).content == b"{}"
        else:
            with pytest.raises(UnreachableError) as raised:
                await requests.send("GET", url, [], None, BOUNDS)
            assert raised.value.untrusted
            assert "certificate verify failed" in str(raised.value)
    finally:
        await requests.close()
        server.close()
