"""Which requests a change of a store enqueues."""

from typing import Any

import pytest

from api.objects import KubeObject, labels_of
from olm_runtime.controller.handlers import (
    Change,
    enqueue_mapped,
    enqueue_object,
    more_than_status_changed,
)
from olm_runtime.controller.requests import Request, namespaced_name, request_for
from olm_runtime.lanes import Priority
from olm_runtime.watch.store import Event


class Queue:
    def __init__(self) -> None:
        self.added: list[tuple[str, Priority]] = []

    def add(
        self, request: Request, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
    ) -> None:
        self.added.append((request, priority))


def obj(**meta: Any) -> KubeObject:
    given = {"namespace": "ns", "name": "x", "resourceVersion": "1", **meta}
    return {"metadata": given, "spec": {"a": 1}, "status": {"b": 1}}


def change(old: KubeObject | None, new: KubeObject | None, *, initial: bool = False) -> Change:
    return Event(("ns", "x"), old, new, initial)


@pytest.mark.parametrize(("namespace", "request_"), [("ns", "ns/x"), ("", "x")])
def test_a_request_is_a_namespace_and_a_name(namespace: str, request_: str) -> None:
    assert request_for("x", namespace) == request_
    assert namespaced_name(request_) == (namespace, "x")


@pytest.mark.parametrize(("initial", "priority"), [(False, Priority.NORMAL), (True, Priority.LOW)])
def test_what_was_there_before_the_start_has_low_priority(
    priority: Priority, *, initial: bool
) -> None:
    queue = Queue()
    enqueue_object(change(None, obj(), initial=initial), queue.add)
    assert queue.added == [("ns/x", priority)]


def test_who_was_concerned_before_is_enqueued_as_well_and_each_once() -> None:
    queue = Queue()
    handle = enqueue_mapped(lambda found: labels_of(found).values())
    old, new = obj(labels={"a": "one", "b": "both"}), obj(labels={"a": "two", "b": "both"})
    handle(change(old, new), queue.add)
    assert [request for request, _ in queue.added] == ["one", "both", "two"]


@pytest.mark.parametrize(
    ("new", "changed"),
    [
        pytest.param(obj(resourceVersion="2") | {"status": {"b": 2}}, False, id="a status"),
        pytest.param(obj(managedFields=[{}]), False, id="whose fields are whose"),
        pytest.param(obj() | {"spec": {"a": 2}}, True, id="the spec"),
        pytest.param(obj(finalizers=["f"]), True, id="a finalizer"),
        pytest.param(obj(deletionTimestamp="now"), True, id="a deletion that was asked for"),
        pytest.param(None, True, id="a deletion"),
    ],
)
def test_what_is_more_than_a_status(new: KubeObject | None, *, changed: bool) -> None:
    assert more_than_status_changed(change(obj(), new)) is changed
    assert more_than_status_changed(change(None, obj()))
