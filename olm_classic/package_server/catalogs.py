"""Keeps the packages of all CatalogSources as their servers have them."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.objects import KubeObject, metadata
from olm_classic.io.registry import Connections, ConnectionState, Key, Target
from olm_classic.kinds import CATALOG_SOURCE
from olm_classic.package_manifests.manifests import Catalog
from olm_classic.package_manifests.shelf import Shelf
from olm_classic.package_server.reading import read_catalog
from olm_runtime.controller.attempt import attempt
from olm_runtime.kube.client import KubeClient
from olm_runtime.proxies import Proxies
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Store

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 60.0
PATIENCE_SECONDS = 20.0
"""For catalogs that are not reached at the start."""
GONE = frozenset({ConnectionState.TRANSIENT_FAILURE, ConnectionState.SHUTDOWN})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Source:
    """What counts of a CatalogSource.

    address    host:port of its server; empty while there is none
    served     changes when it is served anew, with other content perhaps
    reachable  whether catalog-operator has a connection to the server
    """

    catalog: Catalog
    address: str
    served: str
    reachable: bool

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.catalog.namespace, self.catalog.name


def source_of(obj: KubeObject) -> Source:
    """What counts of a CatalogSource, as far as it can be read."""
    meta, spec, status = metadata(obj), _mapping(obj, "spec"), _mapping(obj, "status")
    service, connection = _mapping(status, "registryService"), _mapping(status, "connectionState")
    address = str(spec.get("address") or "") or _of_service(service)
    priority = spec.get("priority")
    catalog = Catalog(
        namespace=meta.get("namespace") or "",
        name=meta["name"],
        created=meta.get("creationTimestamp") or "",
        display_name=str(spec.get("displayName") or ""),
        publisher=str(spec.get("publisher") or ""),
        priority=priority if isinstance(priority, int) else 0,
        labels=dict(meta.get("labels") or {}),
    )
    # catalog-operator connects anew when content is new: also behind an address that stays.
    served = f"{service.get('createdAt')} {connection.get('lastConnect')}"
    reachable = connection.get("lastObservedState") == ConnectionState.READY
    return Source(catalog, address, served, reachable)


def _of_service(service: dict[str, Any]) -> str:
    name, namespace = service.get("serviceName"), service.get("serviceNamespace")
    return f"{name}.{namespace}.svc:{service.get('port')}" if name and namespace else ""


def _mapping(within: Any, key: str) -> dict[str, Any]:
    found = within.get(key)
    return found if isinstance(found, dict) else {}


class Catalogs:
    """Follows CatalogSources, holds a connection to each, and reads what it has to offer."""

    def __init__(
        self,
        client: KubeClient,
        shelf: Shelf,
        *,
        sync_seconds: float,
        clock: Callable[[], datetime],
        proxies: Proxies,
    ) -> None:
        """`sync_seconds`: each is read again this often."""
        self.sources: Store[Source] = Store(source_of)
        self.is_ready = False
        """Whether each catalog has been read that could be."""
        self._shelf = shelf
        self._sync_seconds = sync_seconds
        self._connections = Connections(self._connection_changed, clock=clock, proxies=proxies)
        self._stale: dict[Key, asyncio.Event] = {}
        self._readers: dict[Key, asyncio.Task[None]] = {}
        self._known: dict[Key, Source] = {}
        self._settled: set[Key] = set()
        hooks = Hooks(self._sources_changed, self._note, _delay)
        self._informer = Informer(client, Selection(CATALOG_SOURCE), self.sources, hooks)

    async def run(self) -> None:
        """Follows them until cancelled."""
        patience = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._give_up)
        try:
            await self._informer.run()
        finally:
            patience.cancel()
            for reader in self._readers.values():
                reader.cancel()
            await asyncio.gather(*self._readers.values(), return_exceptions=True)
            await self._connections.close()

    def sync_every(self, seconds: float) -> None:
        """Each catalog is read again this often from now on."""
        if seconds != self._sync_seconds:
            self._sync_seconds = seconds
            for stale in self._stale.values():
                stale.set()

    def states(self) -> dict[Key, str]:
        """The states of the connections."""
        held = {key: self._connections.get(key) for key in self._known}
        return {key: str(each.state) for key, each in held.items() if each is not None}

    def _note(self) -> None:
        if self._informer.problem:
            log.warning("CatalogSources are not watched: %s", self._informer.problem)

    def _give_up(self) -> None:
        if self.sources.synced:
            self.is_ready = True

    async def _sources_changed(self) -> None:
        now = {source.key: source for source in self.sources.objects()}
        for key in self._known.keys() - now.keys():
            await self._forget(key)
        for key, source in now.items():
            if self._known.get(key) != source:
                await self._take(key, source)
        self._look_whether_ready()

    async def _take(self, key: Key, source: Source) -> None:
        self._known[key] = source
        if not source.address:
            await self._connections.drop(key)
            self._shelf.drop(key)
            self._settle(key)
            return
        target = Target(source.address)
        await self._connections.ensure(key, target, reachable=source.reachable)
        self._stale.setdefault(key, asyncio.Event()).set()
        if key not in self._readers:
            self._readers[key] = asyncio.create_task(self._read_on(key), name=f"read {key}")

    async def _forget(self, key: Key) -> None:
        del self._known[key]
        reader = self._readers.pop(key, None)
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        self._stale.pop(key, None)
        await self._connections.drop(key)
        self._shelf.drop(key)

    def _connection_changed(self, key: Key) -> None:
        connection = self._connections.get(key)
        if connection is None or connection.state in GONE:
            self._shelf.drop(key)
            self._settle(key)
        elif connection.state == ConnectionState.READY and key in self._stale:
            self._stale[key].set()

    async def _read_on(self, key: Key) -> None:
        """Reads a catalog whenever it may have changed, and every `sync_seconds`."""
        stale, failures = self._stale[key], 0
        while True:
            waiting = self._sync_seconds or None if not failures else _delay(failures)
            try:
                async with asyncio.timeout(waiting):
                    await stale.wait()
            except TimeoutError:
                log.debug("catalog %s is read again", key)
            stale.clear()
            failed = await attempt(self._read(key), f"reading of catalog {'/'.join(key)}")
            failures = 0 if failed is None else failures + 1
            if failed is not None:
                log.warning("catalog %s cannot be read: %s", "/".join(key), failed.message)

    async def _read(self, key: Key) -> None:
        """Raises RegistryError."""
        connection, source = self._connections.ready().get(key), self._known[key]
        if connection is None:
            return
        packages = await read_catalog(connection, source.catalog)
        # It may have gone while it was read; then it is read again once it is back.
        if self._connections.ready().get(key) is connection:
            self._shelf.put(key, packages)
            log.info("catalog %s has %d packages", "/".join(key), len(packages))
        self._settle(key)

    def _settle(self, key: Key) -> None:
        self._settled.add(key)
        self._look_whether_ready()

    def _look_whether_ready(self) -> None:
        if not self.is_ready and self.sources.synced:
            self.is_ready = self._known.keys() <= self._settled


def _delay(failures: int) -> float:
    return float(min(FIRST_RETRY_SECONDS * 2 ** (failures - 1), LONGEST_RETRY_SECONDS))
