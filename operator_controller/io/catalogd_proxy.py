"""Asks a catalogd from outside the cluster: through the API server, with the user's own rights.

The address in a catalog's status names a Service, which only the cluster can reach. The API
server's service proxy can be asked by whoever may `get services/proxy` in catalogd's namespace.
Any other address is asked directly.
"""

import httpx

from olm_runtime.errors import OLMError
from olm_runtime.http.proxied import http_client
from olm_runtime.kube.cluster_access import ClusterAccess
from operator_controller.io.catalog_addresses import (
    Address,
    Blobs,
    CatalogBehindError,
    CatalogUnavailableError,
    proxy_path,
)
from operator_controller.io.catalogd import CONNECT_SECONDS, READ_SECONDS, Catalogd, fetch


class CatalogdFromOutside:
    """Requests through the API server where an address is one of the cluster's own."""

    def __init__(self, access: ClusterAccess, direct: Catalogd) -> None:
        self._access = access
        self._direct = direct
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        self._http = http_client(timeout, origin=access.tls(), bulk=True)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()
        await self._direct.close()

    async def package(self, address: Address, package: str, *, etag: str = "") -> Blobs | None:
        """The blobs of a package; None if they are those of `etag`.

        Raises CatalogUnavailableError, naming the catalog and the cause.
        """
        self._direct.check(address)
        path = proxy_path(address.base)
        if path is None:
            return await self._direct.package(address, package, etag=etag)
        self._http.headers.update(self._access.headers())
        through = address._replace(base=self._access.server + path)
        try:
            return await fetch(self._http, through, package, etag=etag)
        except CatalogBehindError:
            raise
        except OLMError as error:
            raise CatalogUnavailableError(
                error.message,
                hint="it is asked through the API server: that needs the permission to get "
                "services/proxy in catalogd's namespace",
            ) from error
