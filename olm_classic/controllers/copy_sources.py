"""Finds out which copies of a ClusterServiceVersion need something when it changes.

Requests are namespace and name of what is copied, or was.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from olm_classic.controllers import copied_csvs
from olm_classic.controllers.copied_csvs import CopiedCSVs
from olm_classic.controllers.known_copies import COPIES, KnownCopies, key_request
from olm_classic.controllers.olm_config import OLMConfigController
from olm_classic.copies.records import origins
from olm_classic.copies.sources import Source
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OLM_CONFIG
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.requests import Request, namespaced_name, request_for
from olm_runtime.lanes import Priority
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "copied-csv-sources"


def copy_registrations(
    manager: Manager,
    protected: Iterable[str],
    *,
    clock: Callable[[], datetime],
    gate: PriorityGate,
) -> list[Registration]:
    """The rows of all that is about copies.

    `protected` namespaces have copies where they are switched off; `gate` is shared with what goes
    before copies.
    """
    known = KnownCopies(manager, protected=protected)
    return [
        CopySources(manager, known).registration(),
        CopiedCSVs(manager, known, gate).registration(),
        OLMConfigController(manager, known, clock=clock).registration(),
    ]


class CopySources:
    """Enqueues copies of a source."""

    def __init__(self, manager: Manager, known: KnownCopies) -> None:
        self._manager = manager
        self._known = known

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(CLUSTER_SERVICE_VERSION, self._on_source),
                Watch(COPIES, _on_listed_copy, predicates=[_is_initial]),
                Watch(OLM_CONFIG, self._on_config),
            ],
            resync=self._resync,
            workers=2,
        )

    async def _resync(self) -> Iterable[Request]:
        return [key_request(source.key) for source in self._known.sources.all()]

    def _on_source(self, event: Change, enqueue: Enqueue) -> None:
        """Those that are for their own namespace only have no copies, nor had any."""
        if event.new is not None and event.old is not None:
            before, now = Source.of(event.old), Source.of(event.new)
            if not before.targets and not now.targets:
                return
        priority = Priority.LOW if event.initial else Priority.NORMAL
        enqueue(key_request(event.key), priority=priority)

    def _on_config(self, _: Change, enqueue: Enqueue) -> None:
        for source in self._known.sources.everywhere():
            enqueue(key_request(source.key))

    async def reconcile(self, request: Request) -> Outcome:
        """Enqueues its copies, where they need something. Raises NotSyncedError."""
        known = self._known
        known.check_synced()
        namespace, name = namespaced_name(request)
        there = known.copies_of((namespace, name))
        source = known.sources.get((namespace, name))
        wanted = set[str]()
        settled = set[str]()
        if source is not None:
            active = (
                known.active() if source.everywhere else filter(known.is_active, source.targets)
            )
            wanted = known.sources.wanted_in(source, known.copying, active)
            settled = known.settled(source, there & wanted)
        for each in sorted((there | wanted) - settled):
            self._manager.enqueue(copied_csvs.NAME, request_for(name, each), priority=Priority.LOW)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log."""


def _is_initial(event: Change) -> bool:
    return event.initial


def _on_listed_copy(event: Change, enqueue: Enqueue) -> None:
    """Those whose source ended while nobody watched are found by it."""
    for namespace in origins(event.object):
        enqueue(request_for(event.key[1], namespace), priority=Priority.LOW)
