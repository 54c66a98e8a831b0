"""HTTP connections that go through the proxies of the environment, or directly."""

import ssl

import httpx

from olm_shared.proxies import Proxies, without_password

PROXY_AUTHENTICATION_REQUIRED = 407


class ProxiedTransport(httpx.AsyncBaseTransport):
    """Sends each request through the proxy that is for it.

    Raises httpx.ProxyError, naming the proxy, when it is the proxy that does not let us through.
    """

    def __init__(
        self, proxies: Proxies, *, origin: ssl.SSLContext, proxy: ssl.SSLContext | None = None
    ) -> None:
        """`origin` judges certificates of servers; `proxy` those of proxies, the same if None."""
        self._proxies = proxies
        self._origin = origin
        self._proxy = proxy or origin
        self._transports: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends one request."""
        address = self._proxies.choose(str(request.url))
        transport = self._transport(address)
        if not address:
            return await transport.handle_async_request(request)
        shown = without_password(address)
        try:
            answer = await transport.handle_async_request(request)
        except (httpx.ProxyError, httpx.ConnectError, httpx.ConnectTimeout) as error:
            if _is_about_tls(error):
                raise
            raise httpx.ProxyError(f"proxy {shown}: {str(error) or 'no answer'}") from error
        if answer.status_code == PROXY_AUTHENTICATION_REQUIRED:
            await answer.aclose()
            raise httpx.ProxyError(f"proxy {shown}: 407 {answer.reason_phrase}")
        return answer

    async def aclose(self) -> None:
        """Closes all connections."""
        for transport in self._transports.values():
            await transport.aclose()

    def _transport(self, address: str) -> httpx.AsyncHTTPTransport:
        if address not in self._transports:
            self._transports[address] = httpx.AsyncHTTPTransport(
                verify=self._origin, proxy=self._way(address), trust_env=False
            )
        return self._transports[address]

    def _way(self, address: str) -> httpx.Proxy | None:
        if not address:
            return None
        context = self._proxy if address.startswith("https:") else None
        return httpx.Proxy(address, ssl_context=context)


def _is_about_tls(error: BaseException | None) -> bool:
    """Whether it is the server's certificate, beyond the proxy, that was refused."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
