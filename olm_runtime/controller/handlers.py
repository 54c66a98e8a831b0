"""Event handlers and predicates: which requests a change of a store enqueues. Pure."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from api.objects import KubeObject, metadata
from olm_runtime.controller.requests import Request, request_of
from olm_runtime.lanes import Priority
from olm_runtime.watch.store import Event

CHANGED_BY_EVERY_WRITE = frozenset({"resourceVersion", "managedFields"})
"""Metadata that also a write of the status changes."""


class Enqueue(Protocol):
    """Adds a request to the queue of a controller."""

    def __call__(
        self, request: Request, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
    ) -> None:
        """After so many seconds; low priority is for what probably needs nothing."""


Change = Event[KubeObject]
EventHandler = Callable[[Change, Enqueue], None]
Predicate = Callable[[Change], bool]
"""Whether an event is handled at all."""


def enqueue_object(event: Change, enqueue: Enqueue, priority: Priority | None = None) -> None:
    """Enqueues the object that changed; unless given, low priority is what the first list has."""
    if priority is None:
        priority = Priority.LOW if event.initial else Priority.NORMAL
    enqueue(request_of(event.object), priority=priority)


def enqueue_mapped(requests: Callable[[KubeObject], Iterable[Request]]) -> EventHandler:
    """Enqueues the requests that concern an object: as it is now, and as it was before."""

    def handle(event: Change, enqueue: Enqueue) -> None:
        versions = [obj for obj in (event.old, event.new) if obj is not None]
        for request in dict.fromkeys(each for obj in versions for each in requests(obj)):
            enqueue(request)

    return handle


def more_than_status_changed(event: Change) -> bool:
    """Whether an event shows more than a status that was written."""
    if event.old is None or event.new is None:
        return True
    return _without_status(event.old) != _without_status(event.new)


def _without_status(obj: KubeObject) -> dict[str, Any]:
    rest = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    meta = {key: value for key, value in metadata(obj).items() if key not in CHANGED_BY_EVERY_WRITE}
    return {**rest, "metadata": meta}
