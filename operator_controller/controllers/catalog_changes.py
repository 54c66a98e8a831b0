"""Which extensions are to be reconciled for the new content of a catalog.

A catalog's digest says only that something changed. Each package in use is asked for once (which
the extensions concerned need anyway), and only where its blobs differ from before, or nothing was
known before, are its extensions enqueued: with low priority for a catalog that is new and does not
have the package, which changes nothing but what they say of catalogs.

After a start all extensions are reconciled, with what catalogs have then. So none is enqueued for
that, but for a package of which it was not known: it has changed meanwhile, and goes first.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from api.objects import KubeObject, is_true, labels_of, name_of
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_object
from olm_runtime.controller.requests import Request
from olm_runtime.lanes import Priority
from olm_runtime.outcome import Done, Failed, Outcome
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.io.catalogs import Comparison

ASKED_AT_ONCE = 2
"""Whoever is being installed meanwhile needs the processor as well."""


class Catalogs(Protocol):
    """What is asked of the catalog client."""

    def find_catalog(self, name: str) -> KubeObject | None:
        """The ClusterCatalog, or None."""

    async def compare(self, raw: KubeObject, package: str) -> Comparison:
        """A package, as a catalog has it, with what was known of it. Raises OLMError."""

    async def forget(self, catalog: str) -> None:
        """Drops what is known of a catalog."""

    async def keep_only(self, catalog: str, packages: Collection[str]) -> None:
        """Drops what is known of other packages of a catalog."""


@dataclass(slots=True)
class CatalogChanges:
    """Reconciles ClusterCatalogs by name: enqueues the extensions whose package changed."""

    catalogs: Catalogs
    index: PackageIndex
    enqueue: Enqueue
    all_known: Callable[[], bool]
    """Whether the index has all extensions, which takes a moment after a start."""
    _seen: dict[tuple[str, str], Comparison] = field(default_factory=dict)
    """Of each catalog and package what `compare` said last."""
    _at_start: dict[str, str] = field(default_factory=dict)
    """The content that each catalog had when all extensions were enqueued."""
    _asking: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ASKED_AT_ONCE))

    def on_event(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterCatalog: it is enqueued."""
        if event.initial:
            self._at_start[name_of(event.object)] = _source(event.object)
        elif event.new is None:
            self._at_start.pop(name_of(event.object), None)
        enqueue_object(event, enqueue)

    async def reconcile(self, name: Request) -> Outcome:
        """Compares every package that extensions ask for from the catalog."""
        raw = self.catalogs.find_catalog(name)
        if raw is None:
            self._seen = {key: seen for key, seen in self._seen.items() if key[0] != name}
            await self.catalogs.forget(name)
            return Done()
        await self._drop_unwanted(name)
        found = {package for (_, package), seen in self._seen.items() if seen.is_there}
        # Those first that no catalog had so far: somebody waits for them.
        packages = sorted(self.index.packages_from(labels_of(raw)), key=lambda p: (p in found, p))
        compared = (self._compare(name, raw, package) for package in packages)
        faults = [fault for fault in await asyncio.gather(*compared) if fault is not None]
        # One that does not serve enqueues itself when it does.
        return faults[0] if faults and is_true(raw, "Serving") else Done()

    async def _drop_unwanted(self, name: str) -> None:
        """Packages of extensions that are gone: else there would be more and more of them."""
        if not self.all_known():
            return
        wanted = self.index.packages()
        self._seen = {k: seen for k, seen in self._seen.items() if k[0] != name or k[1] in wanted}
        await self.catalogs.keep_only(name, wanted)

    async def report_failure(self, name: Request, failed: Failed) -> None:
        """A catalog's status is not ours; the log has it."""

    async def _compare(self, name: str, raw: KubeObject, package: str) -> Failed | None:
        """Enqueues the extensions of a package if it changed; the error where that is not known.

        They say themselves what is wrong, so they are enqueued once for an outage, and for its end.
        """
        async with self._asking:
            found = await attempt(self.catalogs.compare(raw, package), f"ClusterCatalog {name}")
        fault = None if isinstance(found, Comparison) else found
        now = found if isinstance(found, Comparison) else Comparison("", is_there=True)
        before = self._seen.get((name, package))
        self._seen[name, package] = now
        if before is None and now.was_known and self._at_start.get(name) == _source(raw):
            return fault
        if now.changed_in == (before.changed_in if before else _older(raw, now.changed_in)):
            return fault
        priority = Priority.NORMAL if now.is_there or before else Priority.LOW
        for extension in self.index.extensions_of(package, labels_of(raw)):
            self.enqueue(extension, priority=priority)
        return fault


def _older(raw: KubeObject, changed_in: str) -> str | None:
    """`changed_in` if the catalog has newer content, in which the package is the same.

    So nothing changed for extensions either, which resolved with that older content.
    """
    return changed_in if changed_in and _source(raw) != changed_in else None


def _source(raw: KubeObject) -> str:
    """The reference of the content that a catalog has; empty if it has none yet."""
    source = (raw.get("status") or {}).get("resolvedSource") or {}
    return str((source.get("image") or {}).get("ref") or "")
