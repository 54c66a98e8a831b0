"""The shell of a controller: what reconciling an object is, whatever its kind.

A `Controller` is what differs from kind to kind, as values. An `ObjectReconciler` does the rest:

find      the object; `gone` is called where there is none
finalize  an object that is being deleted, until its finalizers may be removed
prepare   its metadata, with the finalizers, before there is anything that they stand for
steps     in order, until one raises; every error becomes an outcome
conclude  what the outcome is: when to reconcile again
status    once, on every exit, and never over what somebody else wrote
events    for people, where the status now says something else than before
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from api.objects import (
    GVK,
    KubeObject,
    finalizers_of,
    is_deleting,
    metadata,
    name_of,
    namespace_of,
)
from olm_runtime import tracing
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.kstatus import with_kstatus
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.controller.status_writer import StatusWriter, progressing, with_condition
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome
from olm_runtime.watch.store import Store

C = TypeVar("C")

Status = Mapping[str, Any]


class Reconciler(Protocol):
    """Brings what a request names to what is asked for; may be killed at any moment."""

    async def reconcile(self, request: Request, /) -> Outcome:
        """One reconcile. Whatever it raises is an outcome as well."""

    async def report_failure(self, request: Request, failed: Failed, /) -> None:
        """Writes a status after a reconcile that raised."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Returned by a step in place of a context: this ends the reconcile, the status stays."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Finish(Generic[C]):
    """Returned by a step in place of a context: the other steps are left out, as if they ran."""

    context: C


@dataclass(frozen=True, slots=True)
class Finalized:
    """How far a deletion is.

    outcome  Done: the finalizers are removed; else when to try again
    status   written before that, if there is anything to say
    events   once the finalizers are removed
    """

    outcome: Outcome = field(default_factory=Done)
    status: Status | None = None
    events: Sequence[Happening] = ()


Step = Callable[[C], Awaitable[C | Stop | Finish[C]]]
"""Takes what is known and returns it with what it found; raises OLMError."""


async def _nothing(_: object) -> None:
    pass


async def _released(_: KubeObject, __: datetime) -> Finalized:
    return Finalized()


async def _as_it_is(_: object, outcome: Outcome) -> Outcome:
    return outcome


def _no_events(_: object, __: object, ___: object) -> Sequence[Happening]:
    return ()


def _no_attributes(_: object) -> Mapping[str, str]:
    return {}


def _unobserved(_: object, __: object, ___: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller(Generic[C]):
    """What is particular to a kind. Contexts `C` are frozen.

    begin       the context of an object as it was read; raises TerminalError for a malformed one
    steps       run in order
    status      of the object, of the last context, how it ended, and the time
    afterwards  steps that run once the status is written, if all others did
    conclude    the outcome, given that of the steps (Done if all ran)
    finalizers  what `finalize` must have done before an object may go
    finalize    takes the object as it is, for a malformed one can be deleted too, and the time
    prepare     a merge patch of the metadata; by default it adds the finalizers
    gone        for a request whose object does not exist any more
    events      for a status that was written: the object before, the status, the last context
    observe     each status, for metrics, and how many seconds the reconcile took; None if cut short
    attributes  of a context, for traces
    kstatus     whether the status has the fields that kstatus reads; a kind of which clients know
                every field has none, and failures before its status is known are only logged
    """

    kind: GVK
    begin: Callable[[KubeObject], C]
    steps: Sequence[Step[C]]
    status: Callable[[C, Outcome, datetime], Status]
    afterwards: Sequence[Step[C]] = ()
    conclude: Callable[[C, Outcome], Awaitable[Outcome]] = _as_it_is
    finalizers: tuple[str, ...] = ()
    finalize: Callable[[KubeObject, datetime], Awaitable[Finalized]] = _released
    prepare: Callable[[KubeObject], Mapping[str, Any]] | None = None
    gone: Callable[[Request], Awaitable[None]] = _nothing
    events: Callable[[KubeObject, Status, C | None], Iterable[Happening]] = _no_events
    observe: Callable[[KubeObject, Status, float | None], None] = _unobserved
    attributes: Callable[[C], Mapping[str, str]] = _no_attributes
    kstatus: bool = True


class ObjectReconciler(Generic[C]):
    """Reconciles the objects of a `Controller`."""

    def __init__(
        self,
        controller: Controller[C],
        client: KubeClient,
        store: Store[KubeObject],
        *,
        statuses: StatusWriter,
        events: EventBroadcaster,
        clock: Callable[[], datetime],
    ) -> None:
        """`store` has the objects of the controller's kind."""
        self._controller = controller
        self._client = client
        self._store = store
        self._statuses = statuses
        self._events = events
        self._clock = clock

    async def reconcile(self, request: Request) -> Outcome:
        """Brings one object forward. Raises OLMError where that is not in its status yet."""
        begun = asyncio.get_running_loop().time()
        controller = self._controller
        obj = self._find(request)
        if obj is None:
            await controller.gone(request)
            return Done()
        if is_deleting(obj):
            return await self._finalize(obj)
        obj = await self._prepared(obj)
        context, ended = await self._run(controller.steps, controller.begin(obj), request)
        if isinstance(ended, Stop):
            return ended.outcome
        if tracing.is_on():
            tracing.describe(controller.attributes(context))
        outcome = await controller.conclude(context, ended)
        status = controller.status(context, outcome, self._clock())
        seconds = asyncio.get_running_loop().time() - begun
        await self._write(obj, status, context=context, seconds=seconds)
        if isinstance(ended, Done):
            for step in controller.afterwards:
                await step(context)
        return outcome

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """Says in the condition Progressing why a reconcile ended before its status was written."""
        obj = self._find(request)
        if obj is not None and self._controller.kstatus:
            condition = progressing(failed, metadata(obj).get("generation"))
            await self._write(obj, with_condition(obj, condition, self._clock()))

    def _find(self, request: Request) -> KubeObject | None:
        """As new as anything that was seen of it: a write over something newer is a conflict."""
        namespace, name = namespaced_name(request)
        self._store.check_synced()
        return self._store.get(name, namespace)

    async def _run(
        self, steps: Iterable[Step[C]], context: C, request: Request
    ) -> tuple[C, Outcome | Stop]:
        """The last context, and how the steps ended."""
        for step in steps:
            found = await attempt(
                self._traced(step, context), f"{self._controller.kind.kind} {request}"
            )
            if isinstance(found, Finish):
                return found.context, Done()
            if isinstance(found, Failed | Stop):
                return context, found
            context = found
        return context, Done()

    async def _traced(self, step: Step[C], context: C) -> C | Stop | Finish[C]:
        """Runs a step in a span of its name, with what is known of the object afterwards."""
        if not tracing.is_on():
            return await step(context)
        attributes = self._controller.attributes
        with tracing.span(step.__name__, attributes(context)):
            found = await step(context)
            if not isinstance(found, Stop):
                known = attributes(found.context if isinstance(found, Finish) else found)
                tracing.describe(known)
        return found

    async def _prepared(self, obj: KubeObject) -> KubeObject:
        prepare = self._controller.prepare or self._missing_finalizers
        patch = prepare(obj)
        return await self._patch_metadata(obj, patch) if patch else obj

    def _missing_finalizers(self, obj: KubeObject) -> Mapping[str, Any]:
        present = finalizers_of(obj)
        missing = [each for each in self._controller.finalizers if each not in present]
        return {"finalizers": [*present, *missing]} if missing else {}

    async def _finalize(self, obj: KubeObject) -> Outcome:
        if not set(self._controller.finalizers).intersection(finalizers_of(obj)):
            return Done()
        done = await self._controller.finalize(obj, self._clock())
        if done.status is not None:
            obj = await self._write(obj, done.status) or obj
        if isinstance(done.outcome, Done):
            left = [f for f in finalizers_of(obj) if f not in self._controller.finalizers]
            try:
                await self._patch_metadata(obj, {"finalizers": left})
            except NotFoundError:
                return Done()
            self._events.announce(obj, done.events)
        return done.outcome

    async def _patch_metadata(self, obj: KubeObject, patch: Mapping[str, Any]) -> KubeObject:
        """Patches the very version that was read. Raises ConflictError, NotFoundError, ApiError."""
        meta = {**patch, "resourceVersion": metadata(obj)["resourceVersion"]}
        try:
            patched: KubeObject = await self._client.patch(obj, {"metadata": meta})
        except (ConflictError, NotFoundError):
            await self._read_again(obj)
            raise
        is_gone = is_deleting(patched) and not finalizers_of(patched)
        (self._store.delete if is_gone else self._store.update)(patched)
        return patched

    async def _read_again(self, obj: KubeObject) -> None:
        """Has the store as new as the server, for the watch may be late. Raises ApiError."""
        found = await self._client.find(self._controller.kind, name_of(obj), namespace_of(obj))
        if found is None:
            self._store.delete(obj)
        else:
            self._store.update(found)

    async def _write(
        self,
        obj: KubeObject,
        status: Status,
        *,
        context: C | None = None,
        seconds: float | None = None,
    ) -> KubeObject | None:
        """Writes a status if it is another; the object as written."""
        self._controller.observe(obj, status, seconds)
        kstatus = self._controller.kstatus
        desired = with_kstatus(obj, status, self._clock()) if kstatus else status
        written = await self._statuses.write(obj, desired)
        if written is not None:
            self._events.announce(obj, self._controller.events(obj, status, context))
        return written
