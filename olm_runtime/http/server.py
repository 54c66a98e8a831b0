"""Runs an application under uvicorn inside our own event loop, until it is cancelled."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from olm_runtime.errors import TerminalError

GRACE_SECONDS = 30
KEEP_ALIVE_SECONDS = 60
READ_SECONDS = 10.0
"""Longest time from the first byte of a request, or the connection, to the request's end."""
BACKLOG = 1024
DATE_SECONDS = 1.0
"""The date of answers is as old at most."""
WRITE_AHEAD_BYTES = 64 << 10
"""What waits for a client that does not read before its answer is held up. uvloop's own limit for
TLS, 512 KiB, lets a hundred slow clients hold 50 MiB."""
COPIED_BYTES = 16 << 10
"""Up to here a copy takes less than asking the system to gather parts."""


class _Answering:
    """The transport of one answer, whose head goes out with the first part of its body.

    uvicorn writes them one after the other: two system calls and packets, which is a tenth of what
    a small answer costs. A head whose body is not there yet goes by itself.
    """

    __slots__ = ("_begun", "_head", "_loop", "_transport", "is_closing")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self._begun = False
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Keeps the first part until there is another, or the loop has nothing else to do."""
        if not self._begun:
            self._begun, self._head = True, data
            self._loop.call_soon(self._flush)
        elif self._head:
            head, self._head = self._head, b""
            if len(data) > COPIED_BYTES:
                self._transport.writelines((head, data))
            else:
                self._transport.write(head + data)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Closes the connection once all is sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head and not self._transport.is_closing():
            self._transport.write(self._head)
        self._head = b""


class _Protocol(HttpToolsProtocol):
    """Cuts off clients that do not finish asking: a connection is not to be had for nothing.

    uvicorn itself only bounds the time between an answer and the next request.
    """

    _asking = False
    _deadline: asyncio.TimerHandle | None = None
    _tls: dict[object, object] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A request is awaited from now on."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(WRITE_AHEAD_BYTES)
        self._tls = _client_certificate(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more.

        uvicorn leaves the timer of a connection that was reset, and with it the connection's
        buffers, a quarter of a megabyte, for KEEP_ALIVE_SECONDS.
        """
        self._expected()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """The end of a request is awaited that is not there as a whole, as most are.

        Blank lines before a request are no request, but end uvicorn's own waiting.
        """
        super().data_received(data)
        if self._deadline is None and (self._asking or self._is_idle()):
            self._expect()

    def _is_idle(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def on_message_begin(self) -> None:
        """A request has begun, and has its own time."""
        super().on_message_begin()
        if self._tls is not None:
            self.scope["extensions"] = {"tls": self._tls}
        self._expected()
        self._asking = True

    def on_headers_complete(self) -> None:
        """Its answer can be made."""
        super().on_headers_complete()
        self.cycle.transport = cast("asyncio.Transport", _Answering(self.transport, self.loop))

    def on_message_complete(self) -> None:
        """It is there, with its body."""
        self._expected()
        self._asking = False
        super().on_message_complete()

    def _expect(self) -> None:
        self._expected()
        self._deadline = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def _expected(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _client_certificate(transport: asyncio.Transport) -> dict[object, object] | None:
    """The certificate that a client has shown, as ASGI's extension for TLS has it."""
    connection = transport.get_extra_info("ssl_object")
    found = connection and connection.getpeercert(binary_form=True)
    return {"client_cert_chain": [ssl.DER_cert_to_PEM_cert(found)]} if found else None


class _Server(uvicorn.Server):
    """Leaves signals to the program, and looks about seldomer.

    uvicorn wakes ten times a second, which costs a program at rest a fifth of a percent of a core.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._stopping = asyncio.Event()

    async def main_loop(self) -> None:
        """Keeps the date of answers until it is to stop."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(DATE_SECONDS):
                    await self._stopping.wait()

    def stop(self) -> None:
        """Begins to stop."""
        self.should_exit = True
        self._stopping.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Captures none."""
        yield


def listen(address: tuple[str, int]) -> socket.socket:
    """A listening socket; an empty host is every interface, both families where there are two.

    Raises TerminalError naming the address.
    """
    host, port = address
    try:
        if host:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family, backlog=BACKLOG)
        if socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG
            )
        return socket.create_server(("", port), backlog=BACKLOG)
    except OSError as error:
        raise TerminalError(f"cannot listen on {host}:{port}: {error.strerror}") from error


async def serve(
    app: Any,
    listener: socket.socket,
    tls: ssl.SSLContext | None,
    stopping: Callable[[], None] | None = None,
) -> None:
    """Serves until cancelled; then lets answers in flight end, for GRACE_SECONDS at most.

    `stopping` is called before that wait, to end answers that would never end.
    """
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_context_factory=None if tls is None else lambda _, __: tls,
    )
    server = _Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        if stopping is not None:
            stopping()
        server.stop()
        await serving
        raise
