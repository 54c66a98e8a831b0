"""A transport of httpx over aiohttp, for programs that carry gigabytes.

httpx's own takes five times as much processor time for each byte over TLS: it is written in Python
down to the records, and copies each of them. It takes no proxy.
"""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx
from yarl import URL

from olm_runtime.http.rootless_aiohttp import aiohttp

READ_BYTES = 256 << 10


class BulkTransport(httpx.AsyncBaseTransport):
    """Sends requests over connections of its own; errors are httpx's."""

    def __init__(self, context: ssl.SSLContext) -> None:
        """`context` judges certificates of servers."""
        self._context = context
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request; the body of the answer is not read."""
        body = _Body(request.stream)
        with _errors(body):
            answer = await self._connections().request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers.multi_items(),
                data=body if _has_body(request) else None,
                allow_redirects=False,
                timeout=_timeout(request),
            )
        return httpx.Response(
            answer.status, headers=answer.raw_headers, stream=_Answer(answer), request=request
        )

    async def aclose(self) -> None:
        """Closes all connections."""
        if self._session is not None:
            await self._session.close()

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:  # needs a running loop
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=self._context, limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                read_bufsize=READ_BYTES,
                skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
            )
        return self._session


class _Body:
    """What is sent, and why it ended early: aiohttp would say that the connection failed."""

    def __init__(self, stream: httpx.SyncByteStream | httpx.AsyncByteStream | None) -> None:
        self._stream = stream
        self.fault: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._stream, httpx.AsyncByteStream):
            try:
                async for piece in self._stream:
                    yield piece
            except Exception as error:
                self.fault = error
                raise


class _Answer(httpx.AsyncByteStream):
    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors():
            async for piece in self._answer.content.iter_any():
                yield piece

    async def aclose(self) -> None:
        """Gives the connection back if everything was read, else closes it."""
        if self._answer.content.at_eof():
            self._answer.release()
        else:
            self._answer.close()


def _has_body(request: httpx.Request) -> bool:
    return bool(request.headers.get("Content-Length", "0") != "0")


def _timeout(request: httpx.Request) -> aiohttp.ClientTimeout:
    given = request.extensions.get("timeout", {})
    return aiohttp.ClientTimeout(
        total=None, sock_connect=given.get("connect"), sock_read=given.get("read")
    )


@contextmanager
def _errors(body: _Body | None = None) -> Iterator[None]:
    """Gives aiohttp's errors httpx's names; what ended the body comes as it was."""
    try:
        yield
    except (aiohttp.ClientError, TimeoutError) as error:
        if body is not None and body.fault is not None:
            raise body.fault from None
        behind = error.__cause__ or error
        raise _named(error)(str(behind)) from behind


def _named(error: Exception) -> type[httpx.TransportError]:
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout
        case TimeoutError():
            return httpx.ReadTimeout
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError
        case aiohttp.ClientPayloadError():
            return httpx.ReadError
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError
        case _:
            return httpx.NetworkError
