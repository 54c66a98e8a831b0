"""Which changes of objects a ClusterObjectSet is reconciled for: not those that it made itself."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.objects import ObjectKey
from olm_rollout.io.probing import version_of
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from operator_controller.controllers.memory import Memory

HEALTH_SECONDS = 0.5
"""How long changes of an object's health are gathered before they are looked at."""


@dataclass(slots=True)
class ObjectNews:
    """Rings a set, by name and after so many seconds, for what it does not know of its objects."""

    memories: Mapping[str, Memory]
    watches: ManagedWatches
    ring: Callable[[str, float], None]
    monotonic: Callable[[], float] = time.monotonic
    _meanwhile: dict[str, set[tuple[OwnerKey, ObjectKey]]] = field(default_factory=dict)
    """Of each set that is being reconciled: which objects changed since that began."""

    def notice(self, name: str, owner: OwnerKey, key: ObjectKey) -> None:
        """An object of the owner of a set changed; rings if it is not as the set left it."""
        if name in self._meanwhile:
            self._meanwhile[name].add((owner, key))
        else:
            self._ring_for(name, {(owner, key)})

    @contextmanager
    def judged_afterwards(self, name: str) -> Iterator[None]:
        """For a reconcile: most of what is told during it is what the set writes itself."""
        self._meanwhile[name] = set()
        try:
            yield
        finally:
            self._ring_for(name, self._meanwhile.pop(name))

    def forget(self, name: str) -> None:
        """Nothing that happened to the set's objects so far concerns it."""
        self._meanwhile.get(name, set()).clear()

    def _ring_for(self, name: str, noticed: Iterable[tuple[OwnerKey, ObjectKey]]) -> None:
        found = (self._seconds_until_looked_at(name, owner, key) for owner, key in noticed)
        soonest = min((seconds for seconds in found if seconds is not None), default=None)
        if soonest is not None:
            self.ring(name, soonest)

    def _seconds_until_looked_at(self, name: str, owner: OwnerKey, key: ObjectKey) -> float | None:
        """How soon a set is to be looked at for an object that changed; None for what is known.

        What comes up changes several times in a row, which is looked at once.
        """
        memory, seen = self.memories.get(name), self.watches.sighting(owner, key)
        if memory is not None and memory.removal.since is not None:
            return None  # who takes it down is told what is gone
        if memory is None:
            return 0.0
        if seen is None or memory.applied.left.get(key) != seen.fingerprint:
            return memory.applied.pause(key, self.monotonic())
        if not self.watches.tells_every_change(owner, key):
            return None
        if memory.probed.versions.get(key) == version_of(seen.live):
            return None
        return HEALTH_SECONDS if memory.applied.complete else 0.0
