"""What uvicorn leaves to us of a connection."""

import asyncio
import gc
import socket
import struct
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import pytest

from olm_runtime.http import server
from olm_runtime.http.server import WRITE_AHEAD_BYTES, _Protocol, listen, serve

LARGE = 8 << 20
PATIENCE_SECONDS = 20.0


class App:
    """Answers every request with `LARGE` bytes, a piece at a time."""

    sent = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        length = (b"content-length", b"%d" % LARGE)
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        piece = b"x" * (WRITE_AHEAD_BYTES // 2)
        for _ in range(LARGE // len(piece)):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self.sent += len(piece)
        await send({"type": "http.response.body", "body": b""})


async def test_a_connection_that_was_reset_leaves_nothing_behind() -> None:
    listener = listen(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    serving = asyncio.ensure_future(serve(App(), listener, None))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(LARGE)
    assert head.startswith(b"HTTP/1.1 200")
    assert len(protocols()) == 1
    timer = protocols()[0].timeout_keep_alive_task
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    await asyncio.sleep(0.2)
    assert timer is not None
    assert timer.cancelled()
    del timer
    assert not protocols()
    await stop(serving)


async def test_a_client_that_does_not_read_holds_its_answer_up() -> None:
    app, listener = App(), listen(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    serving = asyncio.ensure_future(serve(app, listener, None))
    client = socket.create_connection(listener.getsockname())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    await asyncio.sleep(0.3)
    assert 0 < app.sent < LARGE
    client.close()
    await stop(serving)


REQUEST = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
BODY = b"a small answer"


class SmallApp:
    """Answers with `BODY`, once it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        length = (b"content-length", b"%d" % len(BODY))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await self.may.wait()
        await send({"type": "http.response.body", "body": BODY})


async def test_the_head_of_an_answer_comes_with_its_body() -> None:
    app, listener = SmallApp(), listen(("127.0.0.1", 0))
    app.may.set()
    serving = asyncio.ensure_future(serve(app, listener, None))

    def ask(times: int) -> list[bytes]:
        with socket.create_connection(listener.getsockname()) as client:
            got = []
            for _ in range(times):
                client.sendall(REQUEST)
                got.append(client.recv(1 << 16))
            return got

    answers = await asyncio.to_thread(ask, 100)
    assert [each for each in answers if not each.endswith(BODY)] == []
    await stop(serving)


async def test_a_head_does_not_wait_for_a_body_that_is_not_there() -> None:
    app, listener = SmallApp(), listen(("127.0.0.1", 0))
    serving = asyncio.ensure_future(serve(app, listener, None))
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    app.may.set()
    assert await reader.readexactly(len(BODY)) == BODY
    writer.write(b"HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 200")
    writer.close()
    await stop(serving)


@pytest.mark.parametrize("begun", [b"", b"\r\n", REQUEST[:9], REQUEST + REQUEST[:9]])
async def test_who_does_not_finish_asking_is_cut_off(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "READ_SECONDS", 0.2)
    app, listener = SmallApp(), listen(("127.0.0.1", 0))
    app.may.set()
    serving = asyncio.ensure_future(serve(app, listener, None))
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    writer.write(begun)
    async with asyncio.timeout(PATIENCE_SECONDS):
        with suppress(ConnectionResetError):
            await reader.read()
    writer.close()
    await stop(serving)


async def test_who_has_asked_is_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "READ_SECONDS", 0.2)
    app, listener = SmallApp(), listen(("127.0.0.1", 0))
    serving = asyncio.ensure_future(serve(app, listener, None))
    reader, writer = await asyncio.open_connection(*listener.getsockname())
    for part in (REQUEST[:9], REQUEST[9:]):
        writer.write(part)
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    app.may.set()
    await reader.readuntil(b"\r\n\r\n")
    assert await reader.readexactly(len(BODY)) == BODY
    await asyncio.sleep(0.5)
    writer.write(REQUEST)
    assert (await reader.readuntil(BODY)).startswith(b"HTTP/1.1 200")
    writer.close()
    await stop(serving)


def protocols() -> list[_Protocol]:
    gc.collect()
    return [found for found in gc.get_objects() if isinstance(found, _Protocol)]


async def stop(serving: "asyncio.Future[None]") -> None:
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
