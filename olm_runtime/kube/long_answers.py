"""Answers that go on for minutes: watches.

A few have a connection each, as requests have. Where there are many, those that come after them
share connections by HTTP/2 (`http2.py`), if the server speaks it and no proxy is in between.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from yarl import URL

from olm_runtime.http.rootless_aiohttp import aiohttp
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.sessions import session
from olm_runtime.kube.sockets import Sockets

if TYPE_CHECKING:
    from olm_runtime.kube.http2 import Connections

FEW = 32
"""So many have a connection each: the module of HTTP/2 takes as much memory as they."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status and headers of an answer, and its content as it comes, until it is closed.

    Reading raises OSError when it is cut.
    """

    status: int
    reason: str
    headers: Iterable[tuple[str, str]]
    content: AsyncIterator[bytes]
    close: Callable[[], None]


class LongAnswers:
    """Of one API server; must be made inside a running loop."""

    def __init__(self, access: ClusterAccess) -> None:
        """Opens no connection yet."""
        self._access, self._sockets = access, Sockets()
        self._session = session(access, self._sockets, 0)
        self._alone = 0
        self._shared: Connections | None = None

    async def get(
        self, address: str, headers: Sequence[tuple[str, str]], *, connect: float, silence: float
    ) -> Answer:
        """Asks, with bounds in seconds: to connect, and for silence at any time after it.

        `address` is quoted; the answer is to be closed. Raises OSError.
        """
        url = URL(address, encoded=True)
        shared = self._connections(url)
        stream = await shared.get(url, headers, connect_seconds=connect) if shared else None
        if stream is not None:
            try:
                await stream.answered(silence)
            except BaseException:
                stream.close()
                raise
            return Answer(stream.status, "", (), stream.chunks(silence), stream.close)
        return await self._get_alone(url, headers, connect=connect, silence=silence)

    async def _get_alone(
        self, url: URL, headers: Sequence[tuple[str, str]], *, connect: float, silence: float
    ) -> Answer:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=silence)
        self._alone += 1
        try:
            response = await self._session.get(url, headers=headers, timeout=timeout)
        except BaseException as error:
            self._alone -= 1
            if isinstance(error, aiohttp.ClientError):
                raise _cut(error) from None
            raise

        def close() -> None:
            self._alone -= 1
            _abort(response)

        return Answer(
            response.status,
            response.reason or "",
            response.headers.items(),
            _Pieces(response.content.iter_any()),
            close,
        )

    def _connections(self, url: URL) -> "Connections | None":
        """Those to share; None where this answer is to have one of its own."""
        if self._alone < FEW or url.scheme != "https" or self._access.proxy:
            return None
        if self._shared is None:
            from olm_runtime.kube.http2 import Connections  # late: few programs need it

            self._shared = Connections(url, self._access.tls)
        return self._shared

    async def close(self) -> None:
        """Ends all of them."""
        await self._session.close()
        if self._shared is not None:
            self._shared.close()
        await self._sockets.end()


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The content of an answer of aiohttp as it comes; raises OSError in place of its errors."""

    pieces: AsyncIterator[bytes]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            return await anext(self.pieces)
        except aiohttp.ClientError as error:
            raise _cut(error) from None


def _cut(error: aiohttp.ClientError) -> OSError:
    """An error that says the same, and leads to no connection.

    Those of aiohttp and their connection refer to each other, by the frames that they went through:
    they would stay until cycles are looked for.
    """
    left: list[BaseException | None] = [error]
    while left:
        if (each := left.pop()) is not None:
            each.__traceback__ = None
            left += each.__cause__, each.__context__
            each.__cause__ = each.__context__ = None
    return ConnectionError(str(error))


def _abort(response: aiohttp.ClientResponse) -> None:
    """Cuts an unfinished answer. A stuck server never returns TLS's closing message."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()
