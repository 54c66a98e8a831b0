"""What uvicorn leaves to us of a connection."""

import asyncio
import gc
import socket
import struct
from collections.abc import MutableMapping
from typing import Any

import pytest

from olm_runtime.http.server import WRITE_AHEAD_BYTES, _Protocol, listen, serve

LARGE = 8 << 20


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


def protocols() -> list[_Protocol]:
    gc.collect()
    return [found for found in gc.get_objects() if isinstance(found, _Protocol)]


async def stop(serving: "asyncio.Future[None]") -> None:
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
