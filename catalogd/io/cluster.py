"""ClusterCatalogs in the API server: read, patch, and tell our own echoes from news."""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from api import wire
from api.objects import GVK, KubeObject, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clustercatalog import ClusterCatalog, ClusterCatalogStatus
from api.wire import InvalidObjectError
from olm_runtime.controller.status_writer import progressing, replace_status, with_condition
from olm_runtime.errors import TerminalError
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.events import EventRecorder
from olm_runtime.outcome import Failed

CLUSTER_CATALOG = GVK(names.GROUP, names.VERSION, names.CLUSTER_CATALOG)
PLURAL = "clustercatalogs"
CONTROLLER = "olm.operatorframework.io/catalogd"

log = logging.getLogger(__name__)


class Cluster:
    """The catalogs of a cluster."""

    def __init__(self, client: KubeClient, *, instance: str) -> None:
        """`instance` names this process in events."""
        self._client = client
        self._events = EventRecorder(client, controller=CONTROLLER, instance=instance)
        self._written: dict[str, str] = {}

    async def find(self, name: str) -> ClusterCatalog | None:
        """One catalog. Raises ApiError, TerminalError."""
        found = await self._client.find(CLUSTER_CATALOG, name)
        return None if found is None else read_catalog_object(found)

    async def names(self) -> list[str]:
        """The names of all catalogs. Raises ApiError."""
        items, _ = await self._client.list_all(CLUSTER_CATALOG, metadata_only=True)
        return [name_of(item) for item in items]

    async def catalogs(self) -> list[ClusterCatalog]:
        """All catalogs that can be read; the others are logged. Raises ApiError."""
        items, _ = await self._client.list_all(CLUSTER_CATALOG)
        return [catalog for item in items if (catalog := _readable(item)) is not None]

    async def patch_metadata(
        self, catalog: ClusterCatalog, patch: dict[str, Any]
    ) -> ClusterCatalog:
        """Merges into the metadata of the version that was read; the catalog as it is then.

        Raises ConflictError, ApiError.
        """
        version = catalog.metadata.resource_version
        body = {"metadata": {**patch, "resourceVersion": version}}
        patched = await self._client.patch(_named(catalog), body)
        self._remember(patched)
        return read_catalog_object(patched)

    async def write_status(self, catalog: ClusterCatalog, status: ClusterCatalogStatus) -> None:
        """Replaces the status, unless it says that already.

        Raises ConflictError for a catalog that is not as it was read any more, ApiError.
        """
        if status != catalog.status:
            await self._replace_status(_named(catalog), wire.write(status))

    async def tell_failure(self, name: str, failed: Failed, now: datetime) -> None:
        """Says in the status why nothing else can be said there. Raises ApiError."""
        raw = await self._client.find(CLUSTER_CATALOG, name)
        if raw is not None:
            told = progressing(failed, int(metadata(raw).get("generation") or 0))
            await self._replace_status(raw, with_condition(raw, told, now))

    async def _replace_status(self, raw: KubeObject, status: dict[str, Any]) -> None:
        if status != raw.get("status"):
            self._remember(await replace_status(self._client, raw, status))

    async def announce(self, catalog: ClusterCatalog, changes: Sequence[Happening]) -> None:
        """Writes an Event for each change; never fails."""
        about = _named(catalog)
        about["metadata"]["uid"] = catalog.metadata.uid
        for change in changes:
            await self._events.record(about, change)

    def is_echo(self, obj: KubeObject) -> bool:
        """Whether an event only shows what we wrote last."""
        version = metadata(obj).get("resourceVersion")
        return version is not None and self._written.get(name_of(obj)) == version

    def _remember(self, answer: KubeObject) -> None:
        self._written[name_of(answer)] = str(metadata(answer).get("resourceVersion") or "")

    def forget(self, name: str) -> None:
        """The catalog is gone."""
        self._written.pop(name, None)


def read_catalog_object(obj: KubeObject) -> ClusterCatalog:
    """The typed catalog. Raises TerminalError when the object is none."""
    try:
        return ClusterCatalog.from_object(obj)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _readable(obj: KubeObject) -> ClusterCatalog | None:
    try:
        return read_catalog_object(obj)
    except TerminalError as error:
        log.warning("catalog %s is passed over: %s", name_of(obj), error)
        return None


def _named(catalog: ClusterCatalog) -> KubeObject:
    meta = catalog.metadata
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_CATALOG,
        "metadata": {"name": meta.name, "resourceVersion": meta.resource_version},
    }
