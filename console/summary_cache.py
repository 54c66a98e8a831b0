"""The packages of catalogs in memory, for all users of a console.

By the digest of their catalog, so what one user has read is there for others, if they may read the
catalog themselves.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from olm_client.catalogs.cluster import Served
from olm_client.catalogs.summary import Summary

AT_ONCE = 2
"""Catalogs that are read: each takes a process and a core for seconds."""


@dataclass(slots=True)
class SummaryCache:
    """What was read, and what is being read.

    slots  for whoever reads
    """

    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _read: dict[str, Sequence[Summary]] = field(default_factory=dict)
    _latest: dict[str, str] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    def has(self, catalog: Served) -> bool:
        """Whether the content that a catalog has now was read."""
        return catalog.digest in self._read

    def packages(self, catalog: Served) -> Sequence[Summary]:
        """Those of the content that was read last; none before any was."""
        digest = catalog.digest if self.has(catalog) else self._latest.get(catalog.name, "")
        return self._read.get(digest, ())

    def lock(self, catalog: Served) -> asyncio.Lock:
        """For whoever reads this content."""
        return self._locks.setdefault(catalog.digest, asyncio.Lock())

    def put(self, catalog: Served, packages: Sequence[Summary]) -> None:
        """They were read."""
        self._read[catalog.digest] = packages
        self._latest[catalog.name] = catalog.digest

    def shrink(self, served: Iterable[Served]) -> None:
        """Forgets what no catalog has, but for those whose newer content is not read yet."""
        now = list(served)
        self._latest = {
            each.name: digest for each in now if (digest := self._latest.get(each.name)) is not None
        }
        retained = {each.digest for each in now}
        retained |= {self._latest[each.name] for each in now if self._is_behind(each)}
        for digest in self._read.keys() - retained:
            del self._read[digest]
        for digest in [each for each, lock in self._locks.items() if not lock.locked()]:
            del self._locks[digest]

    def _is_behind(self, catalog: Served) -> bool:
        return catalog.name in self._latest and not self.has(catalog)
