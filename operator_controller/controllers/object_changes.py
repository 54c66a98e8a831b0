"""Which events of managed objects enqueue a ClusterObjectSet: not those of its own writes."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.objects import ObjectKey
from olm_rollout.io.probing import Probed, version_of
from olm_rollout.io.rollout import Applied
from olm_rollout.io.stale_webhooks import Refusal
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from operator_controller.controllers.per_revision import PerRevision

HEALTH_SECONDS = 0.5
"""How long events of objects that are probed are gathered before a reconcile."""


@dataclass(slots=True)
class RolledOut:
    """How the rollout of a revision left its objects; the modules of the fields write it."""

    applied: Applied = field(default_factory=Applied)
    probed: Probed = field(default_factory=Probed)
    refusal: Refusal = field(default_factory=Refusal)


@dataclass(slots=True)
class ObjectChanges:
    """Enqueues a set, by name and after so many seconds, for events of its objects.

    `is_taken_down` is asked for the set of a name: then the events are what it asked for itself.
    """

    rolled_out: PerRevision[RolledOut]
    is_taken_down: Callable[[str], bool]
    watches: ManagedWatches
    enqueue: Callable[[str, float], None]
    monotonic: Callable[[], float] = time.monotonic
    _deferred: dict[str, set[tuple[OwnerKey, ObjectKey]]] = field(default_factory=dict)
    """Of each set that is being reconciled: the objects with events since that began."""

    def on_event(self, name: str, owner: OwnerKey, key: ObjectKey) -> None:
        """An object of the owner of a set changed: enqueues the set if it did not leave it so."""
        if name in self._deferred:
            self._deferred[name].add((owner, key))
        else:
            self._enqueue_for(name, {(owner, key)})

    @contextmanager
    def deferred(self, name: str) -> Iterator[None]:
        """During a reconcile: most events are of its own writes, so they are handled at its end."""
        self._deferred[name] = set()
        try:
            yield
        finally:
            self._enqueue_for(name, self._deferred.pop(name))

    def forget(self, name: str) -> None:
        """Drops the events so far of a set that is gone."""
        self._deferred.get(name, set()).clear()

    def _enqueue_for(self, name: str, changed: Iterable[tuple[OwnerKey, ObjectKey]]) -> None:
        found = (self._seconds_until_due(name, owner, key) for owner, key in changed)
        soonest = min((seconds for seconds in found if seconds is not None), default=None)
        if soonest is not None:
            self.enqueue(name, soonest)

    def _seconds_until_due(self, name: str, owner: OwnerKey, key: ObjectKey) -> float | None:
        """How soon a set is to be reconciled for an object that changed; None if it is not.

        A workload that starts changes several times in a row, which needs one reconcile.
        """
        rolled_out, seen = self.rolled_out.get(name), self.watches.sighting(owner, key)
        if self.is_taken_down(name):
            return None
        if rolled_out is None:
            return 0.0
        if seen is None or rolled_out.applied.left.get(key) != seen.fingerprint:
            return rolled_out.applied.pause(key, self.monotonic())
        if not self.watches.reports_every_change(owner, key):
            return None
        if rolled_out.probed.versions.get(key) == version_of(seen.live):
            return None
        return HEALTH_SECONDS if rolled_out.applied.complete else 0.0
