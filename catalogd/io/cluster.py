"""ClusterCatalogs in the API server."""

import logging

from api.objects import KubeObject, metadata, name_of
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.kinds import CATALOG
from api.wire import InvalidObjectError
from catalogd.plan import release
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient

log = logging.getLogger(__name__)


class Cluster:
    """The catalogs of a cluster."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    async def find(self, name: str) -> ClusterCatalog | None:
        """One catalog. Raises ApiError, TerminalError."""
        found = await self._client.find(CATALOG, name)
        return None if found is None else read_catalog(found)

    async def names(self) -> list[str]:
        """The names of all catalogs. Raises ApiError."""
        items, _ = await self._client.list_all(CATALOG, metadata_only=True)
        return [name_of(item) for item in items]

    async def catalogs(self) -> list[ClusterCatalog]:
        """All catalogs that can be read; the others are logged. Raises ApiError."""
        items, _ = await self._client.list_all(CATALOG)
        return [catalog for item in items if (catalog := _readable(item)) is not None]

    async def release(self, name: str) -> None:
        """Takes our finalizer off a catalog. Raises ConflictError, ApiError."""
        found = await self._client.find(CATALOG, name)
        patch = release(read_catalog(found)) if found is not None else {}
        if found is not None and patch:
            version = {"resourceVersion": metadata(found)["resourceVersion"]}
            await self._client.patch(found, {"metadata": patch | version})


def read_catalog(obj: KubeObject) -> ClusterCatalog:
    """The typed catalog. Raises TerminalError when the object is none."""
    try:
        return ClusterCatalog.from_object(obj)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _readable(obj: KubeObject) -> ClusterCatalog | None:
    try:
        return read_catalog(obj)
    except TerminalError as error:
        log.warning("catalog %s is passed over: %s", name_of(obj), error)
        return None
