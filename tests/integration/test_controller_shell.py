"""A whole controller, and what the shell around it does: the tutorial for whoever writes the next.

A Counter names a label. How many ConfigMaps of its namespace have that label is said in its status
and in a ConfigMap of the Counter's name, which goes with it. `olm_runtime.controller` explains the
words; between the two lines below is all that a controller needs.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pytest

from api.objects import (
    GVK,
    KubeObject,
    condition,
    finalizers_of,
    is_true,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from e2e.harness.controlplane import ControlPlane
from olm_runtime.clocks import utc_now
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch
from olm_runtime.controller.reconciler import Controller, Finalized, Status
from olm_runtime.controller.requests import Request, request_of
from olm_runtime.controller.status_writer import progressing, with_condition
from olm_runtime.controller.workqueue import WorkQueue
from olm_runtime.errors import TerminalError
from olm_runtime.event import Happening
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.metrics.queue_meter import QueueMeter, Result
from olm_runtime.outcome import Done, Failed, Outcome
from olm_runtime.watch.informer import Selection

pytestmark = pytest.mark.integration

# --- A controller ---------------------------------------------------------------------------------

COUNTER, CONFIG_MAP = GVK("example.com", "v1", "Counter"), GVK("", "v1", "ConfigMap")
FINALIZER = "example.com/counted"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a Counter; each step returns it with what it found."""

    counter: KubeObject
    count: int | None = None


def status(context: Context, outcome: Outcome, now: datetime) -> Status:
    """The status, however the steps ended."""
    ended = progressing(outcome, metadata(context.counter)["generation"])
    count = {} if context.count is None else {"count": context.count}
    return with_condition(context.counter, ended, now) | count


def events(before: KubeObject, now: Status, context: Context | None) -> list[Happening]:
    """What people read of a status that was written."""
    if context is None or context.count in (None, (before.get("status") or {}).get("count")):
        return []
    return [Happening("Count", "Counted", f"There are {context.count} ConfigMaps")]


def published(counter: KubeObject) -> KubeObject:
    """The ConfigMap that says the count."""
    named = {"namespace": namespace_of(counter), "name": name_of(counter)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named}


def add_counter(manager: Manager) -> WorkQueue[Request]:
    """Has a manager run the controller."""
    counters, config_maps = manager.store(COUNTER), manager.store(CONFIG_MAP)

    async def count(context: Context) -> Context:
        label = context.counter["spec"]["label"]
        if "/" not in label:
            hint = "set spec.label to one with a prefix, such as example.com/app"
            raise TerminalError(f'the label "{label}" has no prefix', reason="BadLabel", hint=hint)
        found = config_maps.by_index(NAMESPACE, namespace_of(context.counter))
        return replace(context, count=sum(label in labels_of(obj) for obj in found))

    async def publish(context: Context) -> Context:
        data = {"data": {"count": str(context.count)}}
        await manager.client.apply(published(context.counter) | data, field_manager="counter")
        return context

    async def remove(counter: KubeObject, _: datetime) -> Finalized:
        await manager.client.delete(published(counter))
        return Finalized(events=[Happening("Count", "Removed", "Its ConfigMap is removed")])

    def counters_of(config_map: KubeObject) -> list[Request]:
        return [request_of(obj) for obj in counters.by_index(NAMESPACE, namespace_of(config_map))]

    controller = Controller(kind=COUNTER, begin=Context, steps=(count, publish), status=status,
        events=events, finalizers=(FINALIZER,), finalize=remove)  # fmt: skip
    return manager.add("counter", controller, [Watch(CONFIG_MAP, enqueue_mapped(counters_of))])


# --- Its tests ------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION: KubeObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "counters.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Counter", "plural": "counters"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": SCHEMA},
            }
        ],
    },
}
PATIENCE_SECONDS = 60.0
LABEL = "example.com/app"


@pytest.fixture(scope="module")
def access(control_plane: ControlPlane) -> ClusterAccess:
    return load_access(str(control_plane.kubeconfig))


@pytest.fixture
async def client(access: ClusterAccess) -> AsyncIterator[KubeClient]:
    async with KubeClient.connect(access) as client:
        await client.apply(DEFINITION, field_manager="test")
        await until(lambda: is_served(client))
        yield client


async def is_served(client: KubeClient) -> bool:
    """The server takes a moment to serve a kind that is defined."""
    try:
        await client.resource(COUNTER)
    except NotFoundError:
        return False
    return True


def new_manager(client: KubeClient) -> Manager:
    recorder = EventBroadcaster(client, controller="example.com/counter", instance="test")
    return Manager(client, events=recorder, clock=utc_now, jitter=random.random)


@asynccontextmanager
async def running(client: KubeClient, access: ClusterAccess) -> AsyncIterator[Manager]:
    """A program that runs the controller and nothing else."""
    manager = new_manager(client)
    add_counter(manager)
    async with working(manager.run(access)):
        yield manager


@asynccontextmanager
async def working(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class World:
    """A namespace with a Counter."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def create(self, kind: GVK, name: str, **fields: Any) -> KubeObject:
        meta = {"namespace": self.namespace, "name": name} | fields.pop("metadata", {})
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}
        made: KubeObject = await self.client.create(obj, field_manager="test")
        return made

    async def counter(self) -> KubeObject | None:
        return await self.client.find(COUNTER, "apps", self.namespace)

    async def said(self) -> str | None:
        found = await self.client.find(CONFIG_MAP, "apps", self.namespace)
        return found["data"]["count"] if found else None

    async def until_counted(self, count: int) -> None:
        async def counted() -> bool:
            found = await self.counter()
            status = (found or {}).get("status") or {}
            return status.get("count") == count and await self.said() == str(count)

        await until(counted)

    async def reasons(self) -> set[str]:
        event = GVK("events.k8s.io", "v1", "Event")
        return {found["reason"] for found in (await self.client.list_all(event, self.namespace))[0]}


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():  # noqa: ASYNC110 - what is waited for is in another process
            await asyncio.sleep(0.05)


@pytest.fixture
async def world(client: KubeClient, namespace: str) -> AsyncIterator[World]:
    world = World(client, namespace)
    yield world
    if counter := await world.counter():
        await client.patch(counter, {"metadata": {"finalizers": []}})


async def test_a_counter_from_its_creation_to_its_end(world: World, access: ClusterAccess) -> None:
    await world.create(CONFIG_MAP, "one", metadata={"labels": {LABEL: "x"}})
    await world.create(CONFIG_MAP, "other")
    async with running(world.client, access):
        counter = await world.create(COUNTER, "apps", spec={"label": LABEL})
        await world.until_counted(1)
        created = await world.counter()
        assert created is not None
        assert finalizers_of(created) == [FINALIZER]
        assert is_true(created, "Progressing")

        await world.create(CONFIG_MAP, "two", metadata={"labels": {LABEL: "x"}})
        await world.until_counted(2)
        await world.client.patch(counter, {"spec": {"label": "example.com/none"}})
        await world.until_counted(0)

        await world.client.delete(counter)
        await until(lambda: is_gone(world))
        await until(lambda: have_reasons(world, {"Counted", "Removed"}))
    assert await world.said() is None


async def test_an_error_of_a_step_is_in_the_status_and_passes_with_its_cause(
    world: World, access: ClusterAccess
) -> None:
    async with running(world.client, access):
        counter = await world.create(COUNTER, "apps", spec={"label": "app"})
        await until(lambda: has_reason(world, "BadLabel"))
        found = await world.counter()
        assert found is not None
        progress = condition(found, "Progressing")
        assert progress is not None
        assert progress["status"] == "False"
        assert progress["message"].startswith('the label "app" has no prefix\nhint: set spec.label')
        assert await world.said() is None

        await world.client.patch(counter, {"spec": {"label": LABEL}})
        await world.until_counted(0)


async def test_what_changed_while_the_program_was_down_counts_after_its_start(
    world: World, access: ClusterAccess
) -> None:
    counter = await world.create(COUNTER, "apps", spec={"label": LABEL})
    async with running(world.client, access):
        await world.until_counted(0)
    await world.create(CONFIG_MAP, "one", metadata={"labels": {LABEL: "x"}})
    async with running(world.client, access):
        await world.until_counted(1)
    await world.client.delete(counter)
    assert await world.counter() is not None, "its finalizer holds it"
    async with running(world.client, access):
        await until(lambda: is_gone(world))


async def test_a_status_that_is_right_is_not_written_again(
    world: World, access: ClusterAccess
) -> None:
    await world.create(COUNTER, "apps", spec={"label": LABEL})
    async with running(world.client, access) as manager:
        await world.until_counted(0)
        meter = manager.queues["counter"].meter
        await until(lambda: is_idle(meter))
        before, done = await world.counter(), meter.results[Result.SUCCESS]
        await manager.resync()
        await until(lambda: is_idle(meter))
        assert meter.results[Result.SUCCESS] > done
        assert await world.counter() == before


async def test_what_is_older_than_the_server_has_it_is_read_again(world: World) -> None:
    manager = new_manager(world.client)
    queue = add_counter(manager)
    old = await world.create(COUNTER, "apps", spec={"label": "app"})
    await world.client.patch(old, {"spec": {"label": LABEL}})
    manager.store(COUNTER).replace([old], metadata(old)["resourceVersion"])  # and no watch
    queue.add(request_of(old))
    async with working(queue.run()):
        await world.until_counted(0)


async def test_a_selection_of_a_kind_is_watched_for_a_controller(
    world: World, access: ClusterAccess
) -> None:
    labelled = Selection(CONFIG_MAP, labels=LABEL, metadata_only=True)
    manager, seen = new_manager(world.client), set[str]()
    add_counter(manager)

    class Reconciling:
        async def reconcile(self, request: Request) -> Outcome:
            seen.add(request)
            return Done()

        async def report_failure(self, request: Request, failed: Failed) -> None:
            raise AssertionError(failed)

    manager.register(
        Registration(name="labelled", reconciler=Reconciling(), watches=[Watch(labelled)])
    )
    before = await world.create(CONFIG_MAP, "before", metadata={"labels": {LABEL: "x"}})
    async with working(manager.run(access)):
        await until(lambda: has(seen, request_of(before)))
        await world.create(CONFIG_MAP, "other")
        after = await world.create(CONFIG_MAP, "after", metadata={"labels": {LABEL: "x"}})
        await until(lambda: has(seen, request_of(after)))
        names = {name_of(obj) for obj in manager.selected(labelled).by_index(
            NAMESPACE, world.namespace)}  # fmt: skip
        assert names == {"before", "after"}


async def has(seen: set[str], request: Request) -> bool:
    return request in seen


async def is_idle(meter: QueueMeter) -> bool:
    return not meter.depth and not meter.active


async def is_gone(world: World) -> bool:
    return await world.counter() is None


async def has_reason(world: World, reason: str) -> bool:
    found = await world.counter()
    progress = condition(found, "Progressing") if found else None
    return progress is not None and progress["reason"] == reason


async def have_reasons(world: World, reasons: set[str]) -> bool:
    return reasons <= await world.reasons()
