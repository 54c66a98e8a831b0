"""Requests of commands, which ask a few times and end: a few connections of HTTP/1.1.

aiohttp takes longer to import than half of such commands may take. `http1` has what is sent and
reads the answers, asyncio connects; here is which connection carries what. It knows no proxy.
"""

import asyncio
import ssl
from typing import Any, cast

from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import Bounds, Headers, Reply, UnreachableError, place
from olm_runtime.kube.http1 import CLOSED, AnswerReader, Server

MAX_CONNECTIONS = 6
"""As many as browsers have of a host. A handshake of TLS takes longer than most requests: they wait
for a connection rather."""
HAPPY_EYEBALLS_SECONDS = 0.25
"""RFC 8305: after so long the next address of a host is tried, too."""


class FewRequests:
    """Of one API server; must be used inside one running loop."""

    def __init__(self, access: ClusterAccess) -> None:
        """Opens no connection yet."""
        self._server = Server.of(access.server)
        self._tls = access.tls() if self._server.is_secure else None
        self._room = asyncio.Semaphore(MAX_CONNECTIONS)
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes | None, bounds: Bounds
    ) -> Reply:
        """As Requests."""
        asked = self._server.request(method, url, headers, body)
        async with asyncio.timeout(bounds.total), self._room:
            connection = self._idle_one()
            if connection is not None:
                try:
                    return await self._answer(connection, asked)
                except UnreachableError:  # it was closed as it was not needed
                    if method != "GET" or connection.is_answering:
                        raise
            return await self._answer(await self._connected(bounds.connect), asked)

    async def close(self) -> None:
        """Ends all connections, and waits for the event loop to notice."""
        ended = [connection.ended for connection in self._open]
        for connection in [*self._open]:
            connection.abort()
        await asyncio.gather(*ended)

    async def _answer(self, connection: "_Connection", asked: bytes) -> Reply:
        try:
            reply = await connection.ask(asked)
        except BaseException:
            connection.abort()
            raise
        if connection.is_reusable:
            self._idle.append(connection)
        else:
            connection.abort()
        return reply

    def _idle_one(self) -> "_Connection | None":
        while self._idle:
            connection = self._idle.pop()
            if connection in self._open:
                return connection
        return None

    async def _connected(self, seconds: float) -> "_Connection":
        loop, (host, port, *_) = asyncio.get_running_loop(), self._server
        # uvloop, in which the console asks as commands do, tries one address after the other.
        tries_two = isinstance(loop, asyncio.BaseEventLoop)
        delay: dict[str, Any] = (
            {"happy_eyeballs_delay": HAPPY_EYEBALLS_SECONDS} if tries_two else {}
        )
        try:
            async with asyncio.timeout(seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open), host, port, ssl=self._tls, **delay
                )
        except TimeoutError:
            raise
        except OSError as error:
            untrusted = isinstance(error, ssl.SSLCertVerificationError)
            message = place(host, port, error)
            raise UnreachableError(message, untrusted=untrusted) from error
        return connection


class _Connection(asyncio.Protocol):
    """One connection, which asks one thing after the other."""

    def __init__(self, open_ones: "set[_Connection]") -> None:
        self._all = open_ones
        self._transport: asyncio.Transport | None = None
        self._answer = AnswerReader()
        self._reply: asyncio.Future[Reply] | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the connection is no more."""

    @property
    def is_answering(self) -> bool:
        """Whether something came of the answer to the newest request."""
        return self._answer.is_begun

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow the newest answer."""
        return self._answer.is_reusable

    async def ask(self, request: bytes) -> Reply:
        """Sends a request as it is; its answer. Raises UnreachableError."""
        self._answer = AnswerReader()
        self._reply = asyncio.get_running_loop().create_future()
        if self._transport is None:
            self._fail(UnreachableError(CLOSED))
        else:
            self._transport.write(request)
        return await self._reply

    def abort(self) -> None:
        """Ends it at once: a stuck server never returns TLS's closing message. Idempotent."""
        if self._transport is not None:
            self._transport.abort()

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It may ask."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class
        self._all.add(self)

    def data_received(self, data: bytes) -> None:
        """Reads on."""
        try:
            self._answer.feed(data)
        except UnreachableError as error:
            self._fail(error)
            self.abort()
        self._pass_on()

    def connection_lost(self, error: Exception | None) -> None:
        """There is no answer any more."""
        self._transport = None
        self._all.discard(self)
        try:
            if error is None:
                self._answer.end()
        except UnreachableError as fault:
            self._fail(fault)
        self._pass_on()
        self._fail(UnreachableError(str(error or CLOSED)))
        if not self.ended.done():
            self.ended.set_result(None)

    def _pass_on(self) -> None:
        """The answer, once it is whole, to who waits for it."""
        if self._answer.reply and self._reply is not None and not self._reply.done():
            self._reply.set_result(self._answer.reply)

    def _fail(self, error: UnreachableError) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
