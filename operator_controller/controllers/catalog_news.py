"""Which extensions the new content of a catalog concerns: those whose package it changed.

A catalog's digest says only that something changed. Each package in use is asked for once (which
the extensions concerned need anyway), and only where its blobs differ from before, or nothing was
known before, are its extensions looked at again: without hurry for a catalog that is new and does
not have the package, which changes nothing but what they say of catalogs.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from api.objects import KubeObject, is_true, labels_of
from olm_runtime.controller.attempt import attempt
from olm_runtime.outcome import Done, Failed, Outcome
from operator_controller.controllers.triggers import Add
from operator_controller.controllers.wants import Wants

ASKED_AT_ONCE = 2
"""Whoever is being installed meanwhile needs the processor as well."""


class Catalogs(Protocol):
    """What is asked of the catalog client."""

    async def find_catalog(self, name: str) -> KubeObject | None:
        """The ClusterCatalog, or None."""

    async def changed_in(self, raw: KubeObject, package: str) -> tuple[str, bool]:
        """The first content in which the package was as it is now; whether it is there.

        Raises OLMError.
        """

    async def forget(self, catalog: str) -> None:
        """Drops what is known of a catalog."""


@dataclass(slots=True)
class CatalogNews:
    """Carries the news of one catalog at a time to the extensions that they concern."""

    catalogs: Catalogs
    wants: Wants
    ring: Add
    _told: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    """Of each catalog and package what `changed_in` said last."""
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ASKED_AT_ONCE))

    async def reconcile(self, name: str) -> Outcome:
        """Looks at every package that is wanted from the catalog."""
        raw = await self.catalogs.find_catalog(name)
        if raw is None:
            self._told = {key: told for key, told in self._told.items() if key[0] != name}
            await self.catalogs.forget(name)
            return Done()
        found = {package for (_, package), (_, is_there) in self._told.items() if is_there}
        # Those first that nobody had so far: somebody waits for them.
        packages = sorted(self.wants.packages_from(labels_of(raw)), key=lambda p: (p in found, p))
        looks = (self._look(name, raw, package) for package in packages)
        faults = [fault for fault in await asyncio.gather(*looks) if fault is not None]
        # One that does not serve says so when it does.
        return faults[0] if faults and is_true(raw, "Serving") else Done()

    async def _look(self, name: str, raw: KubeObject, package: str) -> Failed | None:
        """Tells the extensions of a package if it changed; the error where that is not known.

        They say themselves what is wrong, so they are told of an outage once, and of its end.
        """
        async with self._gate:
            found = await attempt(self.catalogs.changed_in(raw, package), f"ClusterCatalog {name}")
        fault = None if isinstance(found, tuple) else found
        changed_in, is_there = found if isinstance(found, tuple) else ("", True)
        told = self._told.get((name, package))
        self._told[name, package] = changed_in, is_there
        if changed_in == (told[0] if told else _older(raw, changed_in)):
            return fault
        for extension in self.wants.extensions_of(package, labels_of(raw)):
            self.ring(extension, hurry=is_there or bool(told))
        return fault


def _older(raw: KubeObject, changed_in: str) -> str | None:
    """`changed_in` if the catalog has newer content, in which the package is the same.

    So it is no news to extensions either, which resolved with that older content.
    """
    source = ((raw.get("status") or {}).get("resolvedSource") or {}).get("image") or {}
    return changed_in if changed_in and source.get("ref") != changed_in else None
