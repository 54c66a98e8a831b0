"""Requests of registries keep their connections, and errors are the same over both transports."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Self

import httpx
import pytest

from olm_runtime.http.bulk import BulkTransport
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call
from olm_runtime.registry.settings import PullSettings, registry_http
from olm_runtime.registry.tokens import PUSH

ANSWERS = {
    "HEAD": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
    "POST": b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
    "PUT": b'HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\n\r\n{"errors":[]}',
}


class Server:
    """Answers by method, and counts connections; `cut` ends them in place of answers to PUT."""

    def __init__(self, *, cut: bool = False) -> None:
        self.connections = 0
        self.address = ""
        self._cut = cut

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method = head.partition(b" ")[0].decode()
                if self._cut and method == "PUT":
                    break
                writer.write(ANSWERS[method])
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client had enough
        finally:
            writer.close()


@pytest.mark.parametrize("bulk", [False, True])
async def test_small_answers_that_nobody_reads_keep_the_connection(bulk: bool) -> None:
    async with Server() as server:
        settings = PullSettings(plain_http=frozenset({server.address}), bulk=bulk)
        http, source = registry_http(settings, PUSH), Source(ImageRef(server.address, "a", "b"))
        for method in ANSWERS:
            call = Call(method=method, headers={"Content-Length": "0"})
            async with http.exchange(source, "/v2/", call):
                pass
        await http.aclose()
    assert server.connections == 1


def bulk_client() -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=BulkTransport(ssl.create_default_context()), timeout=httpx.Timeout(5.0)
    )


async def test_what_ends_a_body_is_the_error() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"x"
        raise LookupError("the file is lost")

    async with Server() as server, bulk_client() as client:
        with pytest.raises(LookupError, match="the file is lost"):
            await client.put(
                f"http://{server.address}/", content=body(), headers={"Content-Length": "9"}
            )


async def test_a_connection_that_is_cut_is_an_error_of_the_transport() -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b"x" * 9

    async with Server(cut=True) as server, bulk_client() as client:
        assert (await client.head(f"http://{server.address}/")).status_code == 200
        with pytest.raises(httpx.TransportError):
            await client.put(
                f"http://{server.address}/", content=body(), headers={"Content-Length": "9"}
            )
