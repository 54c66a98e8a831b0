"""Starts the fork server when there is work, and ends it when there was none for a while."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from olm_runtime.errors import TransientError

IDLE_SECONDS = 30.0
"""Catalogs tend to come, and to be polled, several at a time; at rest there is no server."""
END_SECONDS = 1.0
"""In which a server that has closed its connections has ended."""
MAX_LINE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class JobProcess:
    """A process that was forked: its standard input and output."""

    _output: asyncio.StreamReader
    _input: asyncio.StreamWriter
    _server: subprocess.Popen[bytes]

    async def write(self, data: bytes) -> None:
        """What it reads; who has ended reads nothing, and how it ended will be read."""
        with suppress(ConnectionError):
            self._input.write(data)
            await self._input.drain()

    async def read_line(self) -> bytes:
        """The next line of what it says, without a line break where it has ended."""
        return await self._read(self._output.readline())

    async def read(self) -> bytes:
        """All that it still says, and how it ended, see `job.read_end`."""
        return await self._read(self._output.read())

    async def end(self) -> None:
        """Hangs up on it: the server kills it, and closes the connection when it has ended.

        The folder that it wrote to is cleaned by the next attempt.
        """
        try:
            with suppress(ConnectionError):
                if not self._input.is_closing():
                    self._input.write_eof()
            await self.read()
        finally:
            self._input.close()
            with suppress(ConnectionError):
                await self._input.wait_closed()

    async def _read(self, reading: Awaitable[bytes]) -> bytes:
        try:
            return await reading
        except ConnectionError:  # the server was killed, and could report nothing
            return b""

    async def server_exit_code(self) -> int:
        """How the server ended, which has not said how this process did."""
        try:
            return await asyncio.to_thread(self._server.wait, END_SECONDS)
        except subprocess.TimeoutExpired:
            return 1


@dataclass(frozen=True, slots=True)
class _Server:
    """The process and the socket over which it is sent connections."""

    process: subprocess.Popen[bytes]
    control: socket.socket

    def close(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()


class ForkServer:
    """A process of a module that calls `fork_server.serve`; there is one at most."""

    def __init__(self, module: str, arguments: Sequence[str] = ()) -> None:
        self._command = (sys.executable, "-m", module, *arguments)
        self._server: _Server | None = None
        self._jobs = 0
        self._retirement: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def job(self) -> AsyncIterator[JobProcess]:
        """A new process; it is killed if it has not ended then, and awaited.

        Raises TransientError when none can be started.
        """
        self._jobs += 1
        try:
            process = await self._begin()
            try:
                yield process
            finally:
                await process.end()
        finally:
            self._jobs -= 1
            self._retire_later()

    def prepare(self) -> None:
        """Has the server loaded, as work will come soon. Raises TransientError."""
        self._running()
        self._retire_later()

    def close(self) -> None:
        """Ends the server. All jobs must have ended."""
        if self._retirement is not None:
            self._retirement.cancel()
            self._retirement = None
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _begin(self) -> JobProcess:
        server = self._running()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(server.control, [b"\0"], [theirs.fileno()])
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_LINE_BYTES)
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError):
                raise _not_started(error) from error
            raise
        return JobProcess(reader, writer, server.process)

    def _running(self) -> _Server:
        """The server, which is started where there is none or it has ended."""
        if self._server is not None and self._server.process.poll() is None:
            return self._server
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = subprocess.Popen(self._command, stdin=theirs.fileno())
            except OSError as error:
                ours.close()
                raise _not_started(error) from error
        self._server = _Server(process, ours)
        return self._server

    def _retire_later(self) -> None:
        if self._retirement is not None:
            self._retirement.cancel()
        loop = asyncio.get_running_loop()
        self._retirement = loop.call_later(IDLE_SECONDS, self._retire)

    def _retire(self) -> None:
        if not self._jobs:
            self.close()


def _not_started(error: OSError) -> TransientError:
    return TransientError(f"no process can be started to unpack: {error.strerror}")
