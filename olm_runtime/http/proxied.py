"""HTTP connections that go through the proxies of the environment, or directly.

Nothing else of the environment counts: passwords of a .netrc are not for registries and catalogs.
"""

import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from olm_runtime.http import request_log
from olm_runtime.http.transport_faults import reason
from olm_runtime.proxies import Proxies, read_proxies, without_password

PROXY_AUTHENTICATION_REQUIRED = 407


def http_client(
    timeout: httpx.Timeout,
    *,
    origin: ssl.SSLContext,
    proxy: Callable[[], ssl.SSLContext] | None = None,
    proxies: Proxies | None = None,
    bulk: bool = False,
) -> httpx.AsyncClient:
    """`origin` judges certificates of servers; `proxy` gives what judges those of proxies.

    It is the same if None, and asked for once a proxy shows a certificate.

    `proxies` are those of the environment as it is now, unless given. `bulk` has aiohttp carry them
    (`BulkTransport`): for gigabytes, and where it is loaded in any case. Raises TransientError for
    a variable that holds no address.
    """
    ways = read_proxies(os.environ) if proxies is None else proxies
    transport = ProxiedTransport(ways, origin=origin, proxy=proxy, bulk=bulk)
    hooks = {"response": [_check_redirect]}
    return _Client(transport=transport, timeout=timeout, trust_env=False, event_hooks=hooks)


class _Client(httpx.AsyncClient):
    """httpx's own, to which no address is worth a fault of another kind."""

    def build_request(self, method: str, url: httpx.URL | str, **how: Any) -> httpx.Request:
        """A request. Raises httpx.InvalidURL."""
        try:
            url = httpx.URL(url)
            _check(url)
        except ValueError as error:
            raise httpx.InvalidURL(str(error)) from error
        return super().build_request(method, url, **how)

    async def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """The answer, which httpx's own stream of its body refers to."""
        answer = await super().send(request, **how)
        answer.stream = _LetGo(answer)
        return answer


class _LetGo(httpx.AsyncByteStream):
    """The body of an answer, of which nothing is left once it is closed.

    What refers to itself would stay until cycles are looked for.
    """

    def __init__(self, answer: httpx.Response) -> None:
        self._stream = cast("httpx.AsyncByteStream", answer.stream)
        if answer.is_closed:
            self._let_go()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        self._stream = httpx.ByteStream(b"")


async def _check_redirect(answer: httpx.Response) -> None:
    """A hook of httpx, which does not expect some of what a server may say."""
    if not answer.has_redirect_location:
        return
    try:
        location = httpx.URL(answer.headers["Location"])
        if location.scheme and not location.host:  # as httpx mends it
            location = location.copy_with(host=answer.request.url.host)
        _check(answer.request.url.join(location))
    except (httpx.InvalidURL, ValueError) as error:
        problem = f"the server redirects to an invalid address: {error}"
        raise httpx.RemoteProtocolError(problem, request=answer.request) from error


def _check(url: httpx.URL) -> None:
    """Raises ValueError for a name or a port that cannot be, which httpx finds out later."""
    _ = url.host, urlsplit(str(url)).port


class ProxiedTransport(httpx.AsyncBaseTransport):
    """Sends each request through the proxy that is for it.

    Raises httpx.ProxyError, naming the proxy, when it is the proxy that does not let us through.
    `proxyconnect` is what programs in Go call that, so that people look for it.
    """

    def __init__(
        self,
        proxies: Proxies,
        *,
        origin: ssl.SSLContext,
        proxy: Callable[[], ssl.SSLContext] | None = None,
        bulk: bool = False,
    ) -> None:
        self._proxies = proxies
        self._origin = origin
        self._proxy = proxy or (lambda: origin)
        self._bulk = bulk
        self._transports: dict[str, httpx.AsyncBaseTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request."""
        if not request_log.are_written():
            return await self._send(request)
        began, status = time.monotonic(), "unreachable"
        got: list[tuple[str, str]] = []
        try:
            answer = await self._send(request)
            status = f"{answer.status_code} {answer.reason_phrase}"
            got = answer.headers.multi_items()
        finally:
            took, sent = time.monotonic() - began, request.headers.multi_items()
            request_log.note_request(request.method, str(request.url), took, status, sent, got)
        return answer

    async def _send(self, request: httpx.Request) -> httpx.Response:
        address = self._proxies.choose(str(request.url))
        transport = self._transport(address)
        if not address:
            return await transport.handle_async_request(request)
        what = f"proxyconnect: proxy {without_password(address)}"
        way = _Way(tunnelled=request.url.scheme == "https")
        request.extensions["trace"] = way.trace
        try:
            answer = await transport.handle_async_request(request)
        except httpx.ProxyError as error:
            raise httpx.ProxyError(f"{what} refuses: {error}") from error
        except httpx.TransportError as error:
            if not way.ends_at_proxy:
                raise
            raise httpx.ProxyError(f"{what}: {reason(error)}") from error
        if answer.status_code == PROXY_AUTHENTICATION_REQUIRED:
            await answer.aclose()
            raise httpx.ProxyError(f"{what} refuses: 407 {answer.reason_phrase}")
        return answer

    async def aclose(self) -> None:
        """Closes all connections."""
        for transport in self._transports.values():
            await transport.aclose()

    def _transport(self, address: str) -> httpx.AsyncBaseTransport:
        if address not in self._transports:
            self._transports[address] = self._new_transport(address)
        return self._transports[address]

    def _new_transport(self, address: str) -> httpx.AsyncBaseTransport:
        if self._bulk and not address:
            from olm_runtime.http.bulk import BulkTransport

            return BulkTransport(self._origin)
        return _Transport(verify=self._origin, proxy=self._through(address), trust_env=False)

    def _through(self, address: str) -> httpx.Proxy | None:
        if not address:
            return None
        context = self._proxy() if address.startswith("https:") else None
        return httpx.Proxy(address, ssl_context=context)


class _Transport(httpx.AsyncHTTPTransport):
    """httpx's own, whose faults are all httpx's."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request; the body of the answer is not read."""
        with _errors():
            answer = await super().handle_async_request(request)
        answer.stream = _Answer(cast("httpx.AsyncByteStream", answer.stream))
        return answer


class _Answer(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors():
            async for piece in self._stream:
                yield piece

    async def aclose(self) -> None:
        with _errors():
            await self._stream.aclose()


@contextmanager
def _errors() -> Iterator[None]:
    """Gives what httpcore lets through httpx's names.

    anyio asks uvloop for the socket of a connection, and does not expect that there is none, as
    where the server cuts it off as it is made. Records of TLS that are none are errors of Python's.
    """
    try:
        yield
    except AttributeError as error:
        if (error.obj, error.name) != (None, "getpeername"):
            raise
        raise httpx.ConnectError("the server closed the connection") from error
    except ssl.SSLError as error:
        raise httpx.ReadError(str(error)) from error


class _Way:
    """How far a request has come, by the events of httpcore's trace."""

    def __init__(self, *, tunnelled: bool) -> None:
        self._past_proxy = (
            "proxy.start_tls.started" if tunnelled else "http11.send_request_headers.started"
        )
        self.ends_at_proxy = False
        """Whether a connection was begun, and not got beyond the proxy."""

    async def trace(self, event: str, _: dict[str, Any]) -> None:
        """An extension of httpx: `trace`."""
        if event == "connection.connect_tcp.started":
            self.ends_at_proxy = True
        elif event == self._past_proxy:
            self.ends_at_proxy = False
