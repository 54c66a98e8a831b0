"""The way from a browser to a console, which can be cut."""

import asyncio
from contextlib import suppress

from console.local import LOOPBACK


class Way:
    """Passes bytes both ways, from a port that stays the same to another."""

    def __init__(self, port: int, to: int) -> None:
        self._port, self._to = port, to
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        """Takes connections, from now on."""
        self._server = await asyncio.start_server(self._pass, LOOPBACK, self._port)

    async def cut(self) -> None:
        """Takes none, and ends those that there are."""
        if self._server is not None:
            self._server.close()
        for each in self._open:
            each.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(LOOPBACK, self._to)
        ends = {writer, back}
        self._open |= ends
        await asyncio.gather(_copy(reader, back), _copy(there, writer))
        self._open -= ends


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):  # one of both ends has left, or the way was cut
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
