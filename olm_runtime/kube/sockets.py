"""The sockets of aiohttp's sessions, so that none outlives them."""

import asyncio
import socket
from contextlib import suppress
from weakref import WeakSet

from olm_runtime.http.rootless_aiohttp import aiohttp

TURNS = 100
"""Of the event loop: more than it takes to notice that a connection has ended."""


class Sockets:
    """Makes sockets for sessions and ends those that closed sessions left open.

    A session forgets the connection of a request that is cancelled: asyncio keeps it until the
    server has returned TLS's closing message, which a stuck one never does.
    """

    def __init__(self) -> None:
        self._made: WeakSet[socket.socket] = WeakSet()

    def make(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """A socket for an address; a `socket_factory` of `aiohttp.TCPConnector`."""
        family, kind, protocol, *_ = address
        made = socket.socket(family, kind, protocol)
        self._made.add(made)
        return made

    async def end(self) -> None:
        """Ends all connections, and waits for the event loop to notice."""
        for left in self._open():
            with suppress(OSError):  # it is not connected, or no more
                left.shutdown(socket.SHUT_RDWR)
        for _ in range(TURNS):
            if not self._open():
                break
            await asyncio.sleep(0)

    def _open(self) -> list[socket.socket]:
        return [made for made in self._made if made.fileno() != -1]
