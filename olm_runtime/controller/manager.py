"""Runs controllers: their queues, what they watch, resyncs and Events, until it is cancelled."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

from api.objects import GVK, KubeObject, gvk_of, namespace_of
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.handlers import (
    Change,
    Enqueue,
    EventHandler,
    Predicate,
    enqueue_object,
    more_than_status_changed,
)
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.reconciler import Controller, ObjectReconciler, Reconciler
from olm_runtime.controller.requests import Request, request_of
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.controller.workqueue import (
    DEFAULT_WORKERS,
    LONGEST_DELAY_SECONDS,
    Backoff,
    Fairness,
    WorkQueue,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.waiting import wait_until_served
from olm_runtime.lanes import Place, Priority, by_arrival
from olm_runtime.metrics.queue_meter import Queue
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.source import Source
from olm_runtime.watch.store import Store
from olm_runtime.watch.watcher import Watcher

RESYNC_SECONDS = 600.0
OTHERS_STATUS_SECONDS = 1.0
"""Whoever insists on a status of his own is not written over more often."""
RELIST_SECONDS = 5.0
"""Until a selection that could not be listed is tried again."""
NAMESPACE = "namespace"
"""The index of the stores by namespace."""

C = TypeVar("C")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Watch:
    """A kind, or some objects of one, whose changes enqueue requests, where all predicates hold."""

    kind: GVK | Selection
    handler: EventHandler = enqueue_object
    predicates: Sequence[Predicate] = ()


async def _nothing() -> Iterable[Request]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A controller as a manager runs it.

    name           in metrics
    reconciler     what handles requests
    watches        what enqueues them
    at_start       the requests to enqueue at first, of what may be without an object
    resync         the requests to enqueue from time to time; none by default
    workers        how many prompt requests are handled at once
    longest_delay  of the back-off, in seconds
    gate           shared by controllers whose requests of low priority wait for each other's
    place          of a request that is to wait; None for that of its arrival
    """

    name: str
    reconciler: Reconciler
    watches: Sequence[Watch]
    at_start: Sequence[Request] = ()
    resync: Callable[[], Awaitable[Iterable[Request]]] = _nothing
    workers: int = DEFAULT_WORKERS
    longest_delay: float = LONGEST_DELAY_SECONDS
    gate: PriorityGate | None = None
    place: Callable[[Request], Place | None] = by_arrival


class Manager:
    """The controllers of a process, and what they share."""

    def __init__(
        self,
        client: KubeClient,
        *,
        events: EventBroadcaster,
        clock: Callable[[], datetime],
        jitter: Callable[[], float],
        resync_seconds: float = RESYNC_SECONDS,
    ) -> None:
        """`jitter` gives numbers in [0, 1), as random.random does."""
        self.client = client
        self.events = events
        self.statuses = StatusWriter(client, self._update)
        self.started = asyncio.Event()
        """Set when every store was listed, so that controllers work."""
        self._clock = clock
        self._jitter = jitter
        self._resync_seconds = resync_seconds
        self._stores: dict[GVK, Store[KubeObject]] = {}
        self._selected: dict[Selection, Store[KubeObject]] = {}
        self._restricted: dict[GVK, Selection] = {}
        self._registered: dict[str, tuple[Registration, WorkQueue[Request]]] = {}
        self._watcher: Watcher | None = None

    def store(self, kind: GVK) -> Store[KubeObject]:
        """The objects of a kind, which is watched while the manager runs; see NAMESPACE."""
        return self._stores.setdefault(kind, _new_store())

    def restrict(self, kind: GVK, *, labels: str) -> None:
        """Has the store of a kind hold only the objects with these labels, before `run`.

        For kinds of ours of which there are many that nobody looks at.
        """
        self._restricted[kind] = Selection(kind, labels=labels)

    def selected(self, selection: Selection) -> Store[KubeObject]:
        """Some objects of a kind that is not ours, which are watched while the manager runs.

        For kinds of which there are many that do not concern us: by label, or without content.
        """
        return self._selected.setdefault(selection, _new_store())

    def add(
        self, name: str, controller: Controller[C], watches: Sequence[Watch] = ()
    ) -> WorkQueue[Request]:
        """Registers a controller, before `run`; its queue. `watches` are those of other kinds."""
        kind = controller.kind
        return self.register(
            Registration(
                name=name,
                reconciler=self.reconciler(controller),
                watches=(Watch(kind, self.enqueue_changed), *watches),
                resync=partial(existing, self.client, kind),
            )
        )

    def reconciler(self, controller: Controller[C]) -> ObjectReconciler[C]:
        """The shell around a controller."""
        return ObjectReconciler(
            controller,
            self.client,
            self.store(controller.kind),
            statuses=self.statuses,
            events=self.events,
            clock=self._clock,
        )

    def enqueue_changed(
        self, event: Change, enqueue: Enqueue, priority: Priority | None = None
    ) -> None:
        """The event handler for a kind whose statuses are ours; see `enqueue_object`.

        A status that we wrote enqueues nothing: an error whose message changes each time would be
        tried again and again without back-off. One that somebody else wrote is made right.
        """
        if event.new is None:
            self.statuses.forget(event.object)
        if more_than_status_changed(event):
            enqueue_object(event, enqueue, priority)
        elif self.statuses.is_of_others(event.object):
            enqueue(request_of(event.object), after=OTHERS_STATUS_SECONDS)

    def register(self, registration: Registration) -> WorkQueue[Request]:
        """Registers a controller, before `run`; its queue."""
        queue = WorkQueue(
            registration.reconciler.reconcile,
            report=registration.reconciler.report_failure,
            backoff=Backoff(self._jitter, longest=registration.longest_delay),
            workers=registration.workers,
            fairness=Fairness(gate=registration.gate),
            place=registration.place,
        )
        queue.span_name = f"reconcile {registration.name}"
        for watch in registration.watches:
            self._store_of(watch).add_event_handler(partial(_handle, watch, queue.add))
        self._registered[registration.name] = registration, queue
        return queue

    @property
    def queues(self) -> dict[str, Queue]:
        """Of each controller, by name, what its queue counts, and its workers."""
        registered = self._registered.items()
        return {name: Queue(queue.meter, each.workers) for name, (each, queue) in registered}

    def enqueue(
        self,
        name: str,
        request: Request,
        /,
        *,
        priority: Priority = Priority.NORMAL,
        after: float = 0.0,
    ) -> None:
        """Adds a request to the queue of a controller, by the controller's name."""
        self._registered[name][1].add(request, priority=priority, after=after)

    def _store_of(self, watch: Watch) -> Store[KubeObject]:
        kind = watch.kind
        return self.selected(kind) if isinstance(kind, Selection) else self.store(kind)

    def _update(self, obj: KubeObject) -> None:
        self._stores[gvk_of(obj)].update(obj)

    def is_alive(self) -> bool:
        """Whether the watches live, or will by themselves."""
        return self._watcher is None or self._watcher.is_alive()

    async def run(self, access: ClusterAccess) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.events.run())
            sources = [
                await self._source(kind, store)
                for kind, store in self._stores.items()
                if kind not in self._restricted
            ]
            self._watcher = Watcher(access, sources)
            group.create_task(self._watcher.run())
            for kind, selection in self._restricted.items():
                await wait_until_served(self.client, kind)
                self._selected[selection] = self.store(kind)
            informers = [self._informer(*each) for each in self._selected.items()]
            for informer in informers:
                group.create_task(informer.run())
            await self._watcher.synced.wait()
            for informer in informers:
                await informer.settled.wait()
            for registration, queue in self._registered.values():
                for request in registration.at_start:
                    queue.add(request)
                group.create_task(queue.run())
            self.started.set()
            group.create_task(self._resync_again_and_again())

    async def resync(self, priority: Priority = Priority.NORMAL) -> None:
        """Enqueues everything that there is. Raises OLMError."""
        for registration, queue in self._registered.values():
            for request in await registration.resync():
                queue.add(request, priority=priority)

    async def _resync_again_and_again(self) -> None:
        """What no event enqueued is enqueued by this."""
        while True:
            await asyncio.sleep(self._resync_seconds)
            failed = await attempt(self.resync(Priority.LOW), "the resync")
            if failed is not None:
                log.warning("the resync failed: %s", failed.message)

    def _informer(self, selection: Selection, store: Store[KubeObject]) -> Informer[KubeObject]:
        return Informer(self.client, selection, store, Hooks(delay=lambda _: RELIST_SECONDS))

    async def _source(self, kind: GVK, store: Store[KubeObject]) -> Source:
        resource = await wait_until_served(self.client, kind)
        return Source(kind, resource.plural, store)


def _new_store() -> Store[KubeObject]:
    return PackedStore({NAMESPACE: lambda obj: [namespace_of(obj)]})


async def existing(client: KubeClient, kind: GVK) -> list[Request]:
    """The requests for all objects of a kind. Raises ApiError."""
    found, _ = await client.list_all(kind, metadata_only=True)
    return [request_of(obj) for obj in found]


def _handle(watch: Watch, enqueue: Enqueue, event: Change) -> None:
    if all(holds(event) for holds in watch.predicates):
        watch.handler(event, enqueue)
