"""Nodes of pools are updated, on a real API server with real Jobs, evictions and budgets."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

import pytest

from api.objects import GVK, KubeObject, annotations_of, condition, labels_of, metadata, name_of
from cluster_version.controllers.node_stores import POOL
from cluster_version.nodes.jobs import node_of
from cluster_version.nodes.names import DESIRED, REASON, STATE
from cluster_version.nodes.states import NodeState, state_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.states import pause_after
from olm_runtime.kube.client import KubeClient
from tests.integration.node_updates.conftest import NAMESPACE, Controllers
from tests.integration.node_updates.recorded import JOB, NODE, POD, Recorded, UpdatesRun

pytestmark = pytest.mark.integration

WORKER, CONTROL_PLANE = "node-role.kubernetes.io/worker", "node-role.kubernetes.io/control-plane"
BUDGET = GVK("policy", "v1", "PodDisruptionBudget")
IMAGE, BROKEN = "registry.example.com/os", "registry.example.com/broken"
SECONDS = 180.0


class Cluster:
    """Pools and nodes of a test's own."""

    def __init__(self, client: KubeClient, updates_run: UpdatesRun) -> None:
        self.client = client
        self._updates_run = updates_run
        self.key = f"test-{secrets.token_hex(4)}"

    @property
    def ran(self) -> list[str]:
        """The nodes on which an update was run, one by one."""
        return self._updates_run.nodes

    async def pool(self, name: str, count: int, role: str = WORKER, **spec: Any) -> str:
        """A pool with so many nodes that are ready, and a pod that runs on each; its name."""
        name = f"{name}-{self.key}"
        names = [f"{name}-{number:02}" for number in range(count)]
        await asyncio.gather(*(self.node(each, {role: "", self.key: name}) for each in names))
        await asyncio.gather(*(self.pod(each) for each in names))
        await self.wait_running(name, count)
        selector = {"nodeSelector": {"matchLabels": {self.key: name}}}
        configured = {"configuration": {"image": IMAGE, "command": ["update"]}}
        pool = {"apiVersion": POOL.api_version, "kind": POOL.kind, "metadata": {"name": name}}
        await self.client.create({**pool, "spec": selector | configured | spec}, field_manager="a")
        return name

    async def node(self, name: str, labels: Mapping[str, str]) -> None:
        meta = {"name": name, "labels": dict(labels)}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": meta}
        await self.client.create(node, field_manager="a")

    async def pod(self, node: str) -> None:
        meta = {"name": f"on-{node}", "namespace": "default"}
        spec = {"nodeName": node, "containers": [{"name": "a", "image": "a"}]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        await self.client.create(pod, field_manager="a")

    async def wait_running(self, pool: str, count: int) -> None:
        """Until its nodes are ready, and the pods on them run."""
        async for _ in looks():
            pods, _ = await self.client.list_all(POD, "default", fields="status.phase=Running")
            ready = [each for each in await self.nodes(pool) if state_of(each).is_available]
            if len([each for each in pods if pool in name_of(each)]) == len(ready) == count:
                return
        raise AssertionError(f"{pool}: {len(ready)} of {count} nodes are ready")

    async def give_up(self, node: str) -> None:
        """The update of a node failed, and is not tried again."""
        async for _ in looks():
            jobs, _ = await self.client.list_all(JOB, NAMESPACE)
            for job in jobs:
                if node_of(job) == node and (job.get("status") or {}).get("failed"):
                    await self.client.patch(job, {"spec": {"backoffLimit": 0}})
                    return
        raise AssertionError(f"no update of {node} failed")

    async def budget(self, least: int) -> KubeObject:
        """So many pods with the label of the test have to be available, and are."""
        meta = {"name": self.key, "namespace": "default"}
        spec = {"minAvailable": least, "selector": {"matchLabels": {"app": self.key}}}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta}
        made: KubeObject = await self.client.create({**budget, "spec": spec}, field_manager="a")
        async for _ in looks():  # pods that do not run yet may be evicted in any case
            found = await self.client.get(BUDGET, self.key, "default")
            if (found.get("status") or {}).get("currentHealthy") == least:
                return made
        raise AssertionError(found)

    async def change(self, pool: str, **spec: Any) -> None:
        await self.client.patch(await self.client.get(POOL, pool), {"spec": spec})

    async def nodes(self, pool: str) -> list[KubeObject]:
        found, _ = await self.client.list_all(NODE, labels=f"{self.key}={pool}")
        return found

    async def wait(self, pool: str, holds: Callable[[KubeObject], bool], what: str) -> KubeObject:
        """Until something holds of a pool that has a status; the pool."""
        async for _ in looks():
            found = await self.client.get(POOL, pool)
            if found.get("status") and holds(found):
                return found
        nodes = await self.nodes(pool)
        raise AssertionError(
            f"{what}: {found.get('status')} {[each['metadata'] for each in nodes]}"
        )

    async def wait_node(self, name: str, holds: Callable[[NodeState], bool]) -> NodeState:
        """Until something holds of a node; its state then."""
        async for _ in looks():
            state = state_of(await self.client.get(NODE, name))
            if holds(state):
                return state
        raise AssertionError(state)

    async def wait_reason(self, name: str, text: str) -> None:
        """Until a node reports why it takes so long."""
        async for _ in looks():
            node = await self.client.get(NODE, name)
            if text in annotations_of(node).get(REASON, ""):
                return
        raise AssertionError(metadata(node))

    async def wait_updated(self, pool: str) -> KubeObject:
        return await self.wait(pool, is_updated, "updated")


async def looks() -> AsyncIterator[None]:
    """As often as one looks whether something holds, seldom where it takes long."""
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < SECONDS:
        yield
        await asyncio.sleep(pause_after(waited))


def is_updated(pool: KubeObject) -> bool:
    return (
        shown(pool)["Updated"] == "True"
        and pool["status"]["observedGeneration"] == metadata(pool)["generation"]
    )


def shown(pool: KubeObject) -> dict[str, str]:
    return {each["type"]: each["status"] for each in pool["status"]["conditions"]}


def unavailable(nodes: Iterable[KubeObject]) -> set[str]:
    return {name_of(node) for node in nodes if not state_of(node).is_available}


def replayed(events: Recorded, key: str, seen: Mapping[str, int]) -> list[dict[str, set[str]]]:
    """Which nodes of each pool were unavailable, after each change; `seen` are limits by pool."""
    nodes: dict[str, KubeObject] = {}
    moments = []
    for _, node in events.events:
        if key not in labels_of(node) or "conditions" not in node["status"]:
            continue
        nodes[name_of(node)] = node
        moment = {
            pool: unavailable(each for each in nodes.values() if labels_of(each)[key] == pool)
            for pool in seen
        }
        moments.append(moment)
    for moment in moments:
        for pool, limit in seen.items():
            assert len(moment[pool]) <= limit, moment
    return moments


@pytest.fixture
def cluster(client: KubeClient, updates_run: UpdatesRun, simulated_nodes: None) -> Cluster:
    return Cluster(client, updates_run)


async def test_ten_workers_beside_a_control_plane(
    cluster: Cluster, controllers: Controllers, node_events: Recorded, control_plane: ControlPlane
) -> None:
    workers = await cluster.pool("workers", 10, maxUnavailable="25%")
    masters = await cluster.pool("masters", 3, CONTROL_PLANE, maxUnavailable=3)
    async with controllers():
        updated = [await cluster.wait_updated(each) for each in (workers, masters)]
    moments = replayed(node_events, cluster.key, {workers: 2, masters: 1})
    assert any(each[workers] and each[masters] for each in moments), "both at once"
    assert max(len(each[workers]) for each in moments) == 2
    nodes = [*await cluster.nodes(workers), *await cluster.nodes(masters)]
    assert sorted(cluster.ran) == sorted(map(name_of, nodes)), "each once"
    for pool, count in zip(updated, (10, 3), strict=True):
        name = pool["status"]["configuration"]["name"]
        assert name.startswith(f"rendered-{name_of(pool)}-")
        row = control_plane.kubectl("get", "mcp", name_of(pool), "--no-headers").split()
        assert row[1:9] == [name, "True", "False", "False", *map(str, (count, count, count)), "0"]
    assert {annotations_of(each)[STATE] for each in nodes} == {"Done"}
    pods, _ = await cluster.client.list_all(POD, "default")
    assert not [each for each in pods if cluster.key in name_of(each)], "all were evicted"


async def test_five_workers_three_at_a_time_beside_the_control_plane(
    cluster: Cluster, controllers: Controllers, node_events: Recorded
) -> None:
    """The example of the document; each node in the order of its steps."""
    workers = await cluster.pool("workers", 5, maxUnavailable=3)
    masters = await cluster.pool("masters", 3, CONTROL_PLANE)
    async with controllers():
        for each in (workers, masters):
            await cluster.wait_updated(each)
    moments = replayed(node_events, cluster.key, {workers: 3, masters: 1})
    assert max(len(each[workers]) for each in moments) == 3
    assert any(each[workers] and each[masters] for each in moments), "both at once"
    for node in (*await cluster.nodes(workers), *await cluster.nodes(masters)):
        assert steps(node_events, name_of(node)) == [
            (False, False, "first"),
            (True, False, "first"),
            (True, True, "first"),
            (True, True, "second"),
            (False, False, "second"),
        ]


def steps(events: Recorded, name: str) -> list[tuple[bool, bool, str]]:
    """Of a node: whether it was cordoned, whether its update had begun, and which start it was."""
    seen: list[tuple[bool, bool, str]] = []
    boots: list[str] = []
    for _, node in events.events:
        if name_of(node) != name or not (boot := node["status"]["nodeInfo"]["bootID"]):
            continue
        boots.extend({boot} - set(boots))
        state = state_of(node)
        step = (state.is_cordoned, bool(state.boot_id_before), ("first", "second")[len(boots) - 1])
        if step not in seen:
            seen.append(step)
    return seen


async def test_a_budget_holds_a_drain_until_it_allows_it(
    cluster: Cluster, controllers: Controllers
) -> None:
    pool = await cluster.pool("workers", 2, paused=True)
    [first, second] = [name_of(each) for each in await cluster.nodes(pool)]
    held = {"metadata": {"labels": {"app": cluster.key}}}
    pod = await cluster.client.get(POD, f"on-{first}", "default")
    await cluster.client.patch(pod, held)
    made = await cluster.budget(1)
    async with controllers():
        await cluster.change(pool, paused=None)

        await cluster.wait_reason(first, "cannot be evicted")
        seen = await cluster.client.get(POOL, pool)
        assert shown(seen)["Degraded"] == "False"
        [one, other] = await cluster.nodes(pool)
        assert f"pod default/on-{first}" in annotations_of(one)[REASON]
        assert "disruption budget" in annotations_of(one)[REASON]
        assert state_of(other).is_available, "the limit of one holds"
        assert cluster.ran == []
        await cluster.client.delete(made)
        await cluster.wait_updated(pool)
    assert cluster.ran == [first, second]
    assert all(REASON not in annotations_of(each) for each in await cluster.nodes(pool))


async def test_nodes_that_leave_all_pools_are_taken_into_use_again(
    cluster: Cluster, controllers: Controllers
) -> None:
    """One by its labels, one with its pool, while both are drained; one that failed stays."""
    pool = await cluster.pool("workers", 3, maxUnavailable=3, configuration={"image": BROKEN})
    names = [name_of(each) for each in await cluster.nodes(pool)]
    for name in names[:2]:
        pod = await cluster.client.get(POD, f"on-{name}", "default")
        await cluster.client.patch(pod, {"metadata": {"labels": {"app": cluster.key}}})
    await cluster.budget(2)
    async with controllers():
        await cluster.give_up(names[2])

        def is_begun(found: KubeObject) -> bool:
            status: dict[str, int] = found["status"]
            return (status["unavailableMachineCount"], status["degradedMachineCount"]) == (3, 1)

        await cluster.wait(pool, is_begun, "begun")
        first, *_ = await cluster.nodes(pool)
        await cluster.client.patch(first, {"metadata": {"labels": {cluster.key: None}}})
        await cluster.wait_node(names[0], lambda state: state.is_available)
        assert unavailable(await cluster.nodes(pool)) == set(names[1:])
        await cluster.client.delete(await cluster.client.get(POOL, pool))
        state = await cluster.wait_node(names[1], lambda state: state.is_available)
        assert (state.current, state.desired, state.failure) == ("", "", "")
        assert unavailable(await cluster.nodes(pool)) == {names[2]}, "what it has nobody knows"
    assert cluster.ran == [names[2]]


async def test_a_paused_pool_begins_nothing(cluster: Cluster, controllers: Controllers) -> None:
    pool = await cluster.pool("workers", 2, paused=True)
    async with controllers():
        found = await cluster.wait(pool, lambda _: True, "a status")
        updating = condition(found, "Updating") or {}
        assert updating["status"] == "False"
        assert updating["message"].startswith("Pool is paused; will not update to rendered-")
        assert unavailable(await cluster.nodes(pool)) == set()
        await cluster.change(pool, paused=False)
        await cluster.wait_updated(pool)


async def test_a_node_that_is_unavailable_anyhow_counts(
    cluster: Cluster, controllers: Controllers
) -> None:
    pool = await cluster.pool("workers", 2)
    [first, second] = await cluster.nodes(pool)
    await cluster.client.patch(second, {"spec": {"unschedulable": True}})
    async with controllers():
        counted = {"unavailableMachineCount": 1, "updatedMachineCount": 0}

        def is_counted(found: KubeObject) -> bool:
            return bool(counted.items() <= found["status"].items())

        await cluster.wait(pool, is_counted, "counted")
        await asyncio.sleep(1.0)
        assert DESIRED not in annotations_of((await cluster.nodes(pool))[0])
        await cluster.client.patch(second, {"spec": {"unschedulable": None}})
        await cluster.wait_updated(pool)
    assert cluster.ran == [name_of(first), name_of(second)]


async def test_an_update_that_fails_is_reported_and_mended_by_another_configuration(
    cluster: Cluster, controllers: Controllers
) -> None:
    pool = await cluster.pool("workers", 2, configuration={"image": BROKEN})
    [first, second] = [name_of(each) for each in await cluster.nodes(pool)]
    async with controllers():
        await cluster.give_up(first)
        found = await cluster.wait(pool, lambda each: shown(each)["Degraded"] == "True", "degraded")
        assert found["status"]["degradedMachineCount"] == 1
        message = (condition(found, "NodeDegraded") or {})["message"]
        assert message.startswith(f'Node {first} is reporting: "Job {NAMESPACE}/node-update-')
        assert unavailable(await cluster.nodes(pool)) == {first}, "no other is begun with"
        await cluster.change(pool, configuration={"image": "registry.example.com/better"})
        found = await cluster.wait_updated(pool)
    assert shown(found)["Degraded"] == "False"
    assert cluster.ran == [first, first, second]
    jobs, _ = await cluster.client.list_all(JOB, NAMESPACE)
    assert not [each for each in jobs if cluster.key in str(each)], "none is left"


async def test_a_program_that_ends_at_any_moment(
    cluster: Cluster, controllers: Controllers, node_events: Recorded
) -> None:
    pool = await cluster.pool("workers", 4, maxUnavailable=2)
    for moment in range(1, 12):
        async with controllers() as manager:
            await manager.started.wait()
            await asyncio.sleep(0.07 * moment)
    async with controllers():
        await cluster.wait_updated(pool)
    replayed(node_events, cluster.key, {pool: 2})
    assert sorted(cluster.ran) == [name_of(each) for each in await cluster.nodes(pool)]


async def test_what_is_so_is_not_written_again(cluster: Cluster, controllers: Controllers) -> None:
    pool = await cluster.pool("workers", 1)
    async with controllers():
        await cluster.wait_updated(pool)
    before = [metadata(each)["resourceVersion"] for each in await cluster.nodes(pool)]
    before.append(metadata(await cluster.client.get(POOL, pool))["resourceVersion"])
    async with controllers() as manager:
        await manager.started.wait()
        await manager.resync()
        await asyncio.sleep(1.0)
    after = [metadata(each)["resourceVersion"] for each in await cluster.nodes(pool)]
    after.append(metadata(await cluster.client.get(POOL, pool))["resourceVersion"])
    assert after == before


async def test_a_pool_without_an_image_is_left_alone(
    cluster: Cluster, controllers: Controllers
) -> None:
    """Where another program updates nodes, its pools have none."""
    pool = await cluster.pool("workers", 1, configuration={"name": "rendered-worker-1"})
    before = await cluster.client.get(POOL, pool)
    other = await cluster.pool("others", 1)
    async with controllers():
        await cluster.wait_updated(other)
    assert await cluster.client.get(POOL, pool) == before
    assert unavailable(await cluster.nodes(pool)) == set()


async def test_a_pool_that_means_nothing_says_so(
    cluster: Cluster, controllers: Controllers
) -> None:
    pool = await cluster.pool("workers", 1, maxUnavailable="some")
    async with controllers():
        found = await cluster.wait(pool, lambda each: shown(each)["Degraded"] == "True", "degraded")
        assert (condition(found, "RenderDegraded") or {})["reason"] == "InvalidMaxUnavailable"
        await cluster.change(pool, maxUnavailable=1)
        await cluster.wait_updated(pool)
