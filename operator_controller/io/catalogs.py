"""What the ClusterCatalogs of the cluster have of a package.

The content of a catalog is named by its digest (`status.resolvedSource`), so what is known of it
stays right until that changes: a reconcile of an installed extension needs no request, and neither
a restart nor a catalogd that is away loses it. Catalogs are asked side by side, and for each
package once, however many extensions wait for it.
"""

import asyncio
from collections import Counter
from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple, Protocol

from api.objects import KubeObject, is_true, labels_of, name_of
from api.olm.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from api.wire import InvalidObjectError
from olm_content.fbc.model import Package
from olm_runtime.errors import OLMError
from olm_runtime.watch.store import Store
from operator_controller.io.catalog_addresses import Address, Blobs, CatalogUnavailableError
from operator_controller.io.catalog_cache import CatalogCache, Known
from operator_controller.resolve import CatalogContent

AskKey = tuple[str, str, str]
"""Catalog name, digest reference of its content, package."""


class Lookup(StrEnum):
    """Whether what is known of a package was of the content that is wanted, or catalogd asked."""

    HIT = "hit"
    MISS = "miss"


class Comparison(NamedTuple):
    """A package, as a catalog has it, with what was known of it.

    changed_in  the first content in which it was as it is now
    is_there    whether the content has it
    was_known   whether it was known for this very content, be it since before the start
    """

    changed_in: str
    is_there: bool
    was_known: bool = False


class BlobSource(Protocol):
    """Who asks catalogd."""

    async def package(self, address: Address, package: str, *, etag: str = "") -> Blobs | None:
        """The blobs of a package; None if they are those of `etag`.

        Raises CatalogUnavailableError.
        """

    async def close(self) -> None:
        """Closes the connections."""


class CatalogClient:
    """What catalogs say of packages."""

    def __init__(
        self, catalogs: Store[KubeObject], catalogd: BlobSource, cache: CatalogCache
    ) -> None:
        """`catalogs` are the ClusterCatalogs."""
        self._catalogs = catalogs
        self._catalogd = catalogd
        self._cache = cache
        self._asking: dict[AskKey, asyncio.Future[Known]] = {}
        self.lookups: Counter[Lookup] = Counter()
        """How often a package was wanted, by where it came from."""

    async def close(self) -> None:
        """Closes the connections."""
        await self._catalogd.close()

    def list_catalogs(self) -> list[KubeObject]:
        """All ClusterCatalogs, to be read only. Raises NotSyncedError."""
        self._catalogs.check_synced()
        return self._catalogs.objects()

    def find_catalog(self, name: str) -> KubeObject | None:
        """One ClusterCatalog, or None. Raises NotSyncedError."""
        self._catalogs.check_synced()
        return self._catalogs.get(name)

    async def contents(self, raws: list[KubeObject], package: str) -> list[CatalogContent]:
        """What each catalog that is switched on has of a package."""
        found = await asyncio.gather(*(self._content(raw, package) for raw in raws))
        return [content for content in found if content is not None]

    async def compare(self, raw: KubeObject, package: str) -> Comparison:
        """A package, as a catalog has it, with what was known of it. Raises OLMError."""
        known, lookup = await self._known(_read(raw), raw, package)
        is_there = known.package is not None or known.fault is not None
        return Comparison(known.changed_in, is_there, was_known=lookup is Lookup.HIT)

    async def forget(self, catalog: str) -> None:
        """Drops what is known of a catalog that is gone."""
        await asyncio.to_thread(self._cache.forget, catalog)

    async def keep_only(self, catalog: str, packages: Collection[str]) -> None:
        """Drops what is known of packages that nobody asks for any more."""
        await asyncio.to_thread(self._cache.keep_only, catalog, packages)

    async def _content(self, raw: KubeObject, package: str) -> CatalogContent | None:
        """What one catalog has of a package; None if it is switched off."""
        found: Package | None = None
        problem: OLMError | None = None
        try:
            catalog = _read(raw)
        except CatalogUnavailableError as error:
            return CatalogContent(
                name=name_of(raw), priority=0, labels=labels_of(raw), unavailable=error
            )
        if catalog.spec.availability_mode is not AvailabilityMode.AVAILABLE:
            return None
        try:
            known, _ = await self._known(catalog, raw, package)
            found, problem = known.package, known.fault
        except OLMError as error:
            problem = error
        return CatalogContent(
            name=catalog.metadata.name,
            priority=catalog.spec.priority,
            labels=catalog.metadata.labels,
            package=found,
            unavailable=problem,
        )

    async def _known(
        self, catalog: ClusterCatalog, raw: KubeObject, package: str
    ) -> tuple[Known, Lookup]:
        """From the cache if it is of the content that the catalog resolved to, else asked."""
        name = catalog.metadata.name
        source = catalog.status.resolved_source
        if source is None:
            raise _not_served(name)
        known = await self._cache.find(name, package)
        if known is not None and known.source == source.image.ref:
            self.lookups[Lookup.HIT] += 1
            return known, Lookup.HIT
        if not is_true(raw, "Serving") or catalog.status.urls is None:
            raise _not_served(name)
        self.lookups[Lookup.MISS] += 1
        key = (name, source.image.ref, package)
        if key not in self._asking:
            address = Address(name, catalog.status.urls.base, source.image.ref)
            self._asking[key] = asyncio.ensure_future(self._ask(key, address, known))
            self._asking[key].add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(self._asking[key]), Lookup.MISS

    async def _ask(self, key: AskKey, address: Address, before: Known | None) -> Known:
        name, source, package = key
        blobs = await self._catalogd.package(address, package, etag=before.etag if before else "")
        if blobs is None:
            confirmed = await self._cache.confirm(name, package, source)
            if confirmed is not None:
                return confirmed
            blobs = await self._catalogd.package(address, package)
        if blobs is None:
            raise CatalogUnavailableError(
                f'catalog "{name}": answered "not modified" to a request without condition'
            )
        return await self._cache.put(name, package, source, blobs)


def _read(raw: KubeObject) -> ClusterCatalog:
    """Raises CatalogUnavailableError: one that cannot be read concerns only who selects it."""
    try:
        return ClusterCatalog.from_object(raw)
    except InvalidObjectError as error:
        raise CatalogUnavailableError(
            str(error), hint=f"mend it: kubectl edit clustercatalog {name_of(raw)}"
        ) from error


def _not_served(name: str) -> CatalogUnavailableError:
    return CatalogUnavailableError(
        f'catalog "{name}" is not being served',
        hint=f"see the conditions: kubectl describe clustercatalog {name}",
    )
