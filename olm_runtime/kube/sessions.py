"""Requests over sessions of aiohttp: for programs that go on, and through proxies."""

from yarl import URL

from olm_runtime.http.rootless_aiohttp import aiohttp
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import Bounds, Headers, Reply, UnreachableError, place
from olm_runtime.kube.sockets import Sockets

MAX_CONNECTIONS = 1024
"""More than everything in flight asks at once, so that requests which hang delay no other."""


class SessionRequests:
    """Of one API server; must be made inside a running loop."""

    def __init__(self, access: ClusterAccess) -> None:
        """Opens no connection yet."""
        self._sockets = Sockets()
        self._session = session(access, self._sockets, MAX_CONNECTIONS)

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes | None, bounds: Bounds
    ) -> Reply:
        """As Requests."""
        timeout = aiohttp.ClientTimeout(total=bounds.total, sock_connect=bounds.connect)
        try:
            async with self._session.request(
                method, URL(url, encoded=True), headers=headers, data=body, timeout=timeout
            ) as response:
                content = await response.read()
                got = tuple(response.headers.items())
                return Reply(response.status, response.reason or "", got, content)
        except TimeoutError:
            raise
        except aiohttp.ClientError as error:
            untrusted = isinstance(error, aiohttp.ClientConnectorCertificateError)
            raise UnreachableError(_fault(error), untrusted=untrusted) from error

    async def close(self) -> None:
        """Ends all connections."""
        await self._session.close()
        await self._sockets.end()


def session(access: ClusterAccess, sockets: Sockets, limit: int) -> aiohttp.ClientSession:
    """A session of at most `limit` connections; 0 for no limit."""
    connector = aiohttp.TCPConnector(
        ssl=access.tls(), limit=limit, keepalive_timeout=60, socket_factory=sockets.make
    )
    return aiohttp.ClientSession(connector=connector, auto_decompress=True, proxy=access.proxy)


def _fault(error: aiohttp.ClientError) -> str:
    """Where a connection failed and why, without what aiohttp says of its own parameters."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return str(error)
    return place(error.host, error.port, error.os_error)
