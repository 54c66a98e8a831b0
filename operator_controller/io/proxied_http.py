"""HTTP as Go programs of a cluster do it: the same rules for proxies, and nothing else of the
environment (no .netrc, whose passwords are not for catalogs).
"""

import os
import ssl

import httpx

from olm_shared.proxies import Proxies, read_proxies, without_password


def http_client(tls: ssl.SSLContext, timeout: httpx.Timeout) -> httpx.AsyncClient:
    """Connections that follow HTTP_PROXY, HTTPS_PROXY and NO_PROXY as they are now.

    Raises TransientError for a variable that holds no address.
    """
    transport = _Proxied(tls, read_proxies(os.environ))
    return httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False)


class _Proxied(httpx.AsyncBaseTransport):
    """Sends each request straight or through the proxy that is meant for its address."""

    def __init__(self, tls: ssl.SSLContext, proxies: Proxies) -> None:
        self._tls = tls
        self._proxies = proxies
        self._ways: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises httpx.TransportError; where a proxy is in the way, it names the proxy."""
        proxy = self._proxies.choose(str(request.url))
        if proxy not in self._ways:
            self._ways[proxy] = self._way(proxy)
        try:
            return await self._ways[proxy].handle_async_request(request)
        except httpx.TransportError as error:
            if not proxy:
                raise
            cause = str(error) or type(error).__name__
            through = f"through the proxy {without_password(proxy)}: {cause}"
            raise httpx.ProxyError(through, request=request) from error

    async def aclose(self) -> None:
        """Closes the connections of all ways."""
        for way in self._ways.values():
            await way.aclose()

    def _way(self, proxy: str) -> httpx.AsyncHTTPTransport:
        tls_to_proxy = self._tls if proxy.startswith("https:") else None
        via = httpx.Proxy(proxy, ssl_context=tls_to_proxy) if proxy else None
        return httpx.AsyncHTTPTransport(verify=self._tls, proxy=via)
