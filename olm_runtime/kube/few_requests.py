"""Requests of commands, which ask a few times and end: a few connections of HTTP/1.1.

aiohttp takes longer to import than half of such commands may take. httptools reads the answers,
asyncio connects; here is which connection carries what. It knows no proxy.
"""

import asyncio
import ssl
import zlib
from typing import Any, cast
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpResponseParser

from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import Bounds, Headers, Reply, UnreachableError, place

MAX_CONNECTIONS = 8
"""A handshake of TLS takes longer than most requests: they wait for a connection rather."""
HAPPY_EYEBALLS_SECONDS = 0.25
"""RFC 8305: after so long the next address of a host is tried, too."""
USER_AGENT = "olm"
CLOSED = "the server closed the connection"
_GZIP = 16 + zlib.MAX_WBITS


class FewRequests:
    """Of one API server; must be used inside one running loop."""

    def __init__(self, access: ClusterAccess) -> None:
        """Opens no connection yet."""
        server = urlsplit(access.server)
        self._host = server.hostname or ""
        self._port = server.port or (443 if server.scheme == "https" else 80)
        self._authority = server.netloc.rpartition("@")[2]
        self._tls = access.tls() if server.scheme == "https" else None
        self._room = asyncio.Semaphore(MAX_CONNECTIONS)
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes | None, bounds: Bounds
    ) -> Reply:
        """As Requests."""
        asked = self._request(method, url, headers, body)
        async with asyncio.timeout(bounds.total), self._room:
            connection = self._idle_one()
            if connection is not None:
                try:
                    return await self._answer(connection, asked)
                except UnreachableError:  # it was closed as it was not needed
                    if method != "GET" or connection.answered:
                        raise
            return await self._answer(await self._connected(bounds.connect), asked)

    async def close(self) -> None:
        """Ends all connections, and waits for the event loop to notice."""
        ended = [connection.ended for connection in self._open]
        for connection in [*self._open]:
            connection.abort()
        await asyncio.gather(*ended)

    def _request(self, method: str, url: str, headers: Headers, body: bytes | None) -> bytes:
        server = urlsplit(url)
        target = (server.path or "/") + (f"?{server.query}" if server.query else "")
        length = () if body is None else (("Content-Length", str(len(body))),)
        own = (("Host", self._authority), ("User-Agent", USER_AGENT), ("Accept-Encoding", "gzip"))
        lines = [f"{name}: {value}" for name, value in (*own, *headers, *length)]
        head = [f"{method} {target} HTTP/1.1", *lines]
        if any("\r" in line or "\n" in line for line in head):
            raise UnreachableError("a header of the request has a line break in it")
        return "\r\n".join([*head, "", ""]).encode("utf-8") + (body or b"")

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
        loop = asyncio.get_running_loop()
        # uvloop, in which the console asks as commands do, tries one address after the other.
        tries_two = isinstance(loop, asyncio.BaseEventLoop)
        delay: dict[str, Any] = (
            {"happy_eyeballs_delay": HAPPY_EYEBALLS_SECONDS} if tries_two else {}
        )
        try:
            async with asyncio.timeout(seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open), self._host, self._port, ssl=self._tls, **delay
                )
        except TimeoutError:
            raise
        except OSError as error:
            untrusted = isinstance(error, ssl.SSLCertVerificationError)
            message = place(self._host, self._port, error)
            raise UnreachableError(message, untrusted=untrusted) from error
        return connection


class _Connection(asyncio.Protocol):
    """One connection, which asks one thing after the other."""

    def __init__(self, open_ones: "set[_Connection]") -> None:
        self._all = open_ones
        self._transport: asyncio.Transport | None = None
        self._parser = HttpResponseParser(self)
        self._reply: asyncio.Future[Reply] | None = None
        self._reason, self._headers, self._parts = b"", list[tuple[str, str]](), list[bytes]()
        self._ends_with_connection = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done once the connection is no more."""
        self.answered = False
        """Whether something came of the answer to the newest request."""
        self.is_reusable = False
        """Whether another request may follow the newest answer."""

    async def ask(self, request: bytes) -> Reply:
        """Sends a request as it is; its answer. Raises UnreachableError."""
        self._parser = HttpResponseParser(self)
        self._reason, self._headers, self._parts = b"", [], []
        self.answered = self.is_reusable = self._ends_with_connection = False
        self._reply = asyncio.get_running_loop().create_future()
        if self._transport is None:
            self._fail(CLOSED)
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
        self.answered = True
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._fail(f"the server breaks HTTP: {error}")
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """There is no answer any more."""
        self._transport = None
        self._all.discard(self)
        if self._ends_with_connection and error is None:
            self.on_message_complete()
        self._fail(str(error or CLOSED))
        if not self.ended.done():
            self.ended.set_result(None)

    def _fail(self, message: str) -> None:
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(UnreachableError(message))

    # What the parser calls

    def on_status(self, text: bytes) -> None:
        """The reason of a status, perhaps in pieces."""
        self._reason += text

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Content follows; without a length it is as long as the connection (RFC 9112, 6.3)."""
        names = {name.lower() for name, _ in self._headers}
        self._ends_with_connection = not names & {"content-length", "transfer-encoding"}

    def on_body(self, part: bytes) -> None:
        """A piece of the content."""
        self._parts.append(part)

    def on_message_complete(self) -> None:
        """The answer is there as a whole."""
        self.is_reusable = self._parser.should_keep_alive()
        if self._reply is None or self._reply.done():
            return
        reply = Reply(
            self._parser.get_status_code(),
            self._reason.decode("latin-1"),
            tuple(self._headers),
            b"".join(self._parts),
        )
        try:
            self._reply.set_result(_unpacked(reply))
        except zlib.error as error:
            self._fail(f"the answer cannot be unpacked: {error}")


def _unpacked(reply: Reply) -> Reply:
    """Raises zlib.error."""
    if reply.header("content-encoding", "") != "gzip":
        return reply
    content = zlib.decompress(reply.content, _GZIP)
    return Reply(reply.status, reply.reason, reply.headers, content)
