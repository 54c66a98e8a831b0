"""Brings the nodes of MachineConfigPools to their configuration, a few at a time."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from api.objects import KubeObject, labels_of, metadata, name_of
from cluster_version.controllers.node_drains import DRAINS, LOOK_SECONDS, NodeDrains
from cluster_version.controllers.node_stores import NODES, POOLS, NodeStores, Plan, jobs_in
from cluster_version.io.applying import FIELD_MANAGER
from cluster_version.nodes import patches
from cluster_version.nodes.jobs import configuration_of, job_failure
from cluster_version.nodes.pool_status import pool_status
from cluster_version.nodes.states import NodeState, Step, state_of
from olm_runtime.controller.handlers import Change, enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.errors import OLMError
from olm_runtime.event import Happening
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome, Retry

NAME = "node-pools"
WORKERS = 4
AGAIN_SECONDS = 1.0
"""After a node was another than we thought."""


class NodePools:
    """The controller. Requests name pools; what changes about a node may concern any of them."""

    def __init__(
        self,
        manager: Manager,
        stores: NodeStores,
        *,
        namespace: str,
        clock: Callable[[], datetime],
    ) -> None:
        """`namespace` is where the Jobs are."""
        self._manager = manager
        self._client = manager.client
        self._stores = stores
        self._jobs = jobs_in(namespace)
        self._clock = clock
        self._statuses = StatusWriter(manager.client, stores.pools.update)

    def registration(self) -> Registration:
        """The row of this controller."""
        every_pool = enqueue_mapped(self._every_pool)
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(POOLS, every_pool),
                Watch(NODES, every_pool, predicates=[_concerns_pools]),
                Watch(self._jobs, every_pool),
            ],
            resync=self._resync,
            workers=WORKERS,
        )

    def _every_pool(self, _: KubeObject) -> list[Request]:
        return [name_of(pool) for pool in self._stores.pools.objects()]

    async def _resync(self) -> Iterable[Request]:
        return self._every_pool({})

    async def reconcile(self, request: Request) -> Outcome:
        """Does what is next about each node, and writes how far the pool is. Raises OLMError."""
        self._stores.check_synced()
        pool = self._stores.pools.get(request)
        plan = self._stores.plan(pool) if pool else None
        if pool is None or plan is None:
            return Done()
        problems = await self._take_steps(plan)
        after = self._stores.plan(pool) or plan
        status = pool_status(
            pool, list(after.states.values()), after.target, self._clock(), after.problem
        )
        await self._statuses.write(pool, status)
        return Retry("; ".join(problems), within=AGAIN_SECONDS) if problems else Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """The log has it: what concerns a node is in its annotations."""

    async def _take_steps(self, plan: Plan) -> list[str]:
        """What went wrong, as texts: the fault of one node does not concern the others."""
        names = list(plan.steps)
        answers = await asyncio.gather(
            *(self._take(plan, name) for name in names), return_exceptions=True
        )
        problems = []
        for name, answer in zip(names, answers, strict=True):
            match answer:
                case OLMError():
                    problems.append(f"node {name}: {answer.message}")
                case BaseException():
                    raise answer
        return problems

    async def _take(self, plan: Plan, name: str) -> None:
        node, state = plan.nodes[name], plan.states[name]
        match plan.steps[name]:
            case Step.CORDON:
                await self._begin(node, state, plan.target.name)
            case Step.CORDON_AGAIN:
                await self._write(node, patches.CORDON_AGAIN)
            case Step.DRAIN:
                self._manager.enqueue(DRAINS, name)
            case Step.REPORT_FAILURE:
                await self._report(node, state)
            case Step.UNCORDON:
                await self._write(node, patches.uncordon(state))
                self._announce(node, "Uncordon", f"Node {name} is updated to {state.desired}")
            case Step.GIVE_BACK:
                await self._write(node, patches.give_back(state))
                self._announce(node, "Uncordon", f"Node {name} is as it was")
        await self._delete_others(name)

    async def _begin(self, node: KubeObject, state: NodeState, target: str) -> None:
        """Only the very node that was looked at: what it was like is counted upon."""
        version = {"resourceVersion": metadata(node)["resourceVersion"]}
        await self._write(node, patches.cordon(state, target), version)
        self._announce(node, "Cordon", f"Cordoned node to update it to {target}")

    async def _report(self, node: KubeObject, state: NodeState) -> None:
        job = self._stores.job(state)
        if job is not None:
            reason = job_failure(job)
            await self._write(node, patches.failure(reason))
            self._announce(node, "FailedUpdate", reason, warning=True)

    async def _delete_others(self, name: str) -> None:
        """Jobs of what the node is not brought to, or not any more."""
        node = self._stores.nodes.get(name)
        if node is None:
            return
        state = state_of(node)
        for job in self._stores.jobs_of(name):
            is_current = state.is_updating and configuration_of(job) == state.desired
            if not is_current and "deletionTimestamp" not in metadata(job):
                await self._client.delete(job, uid=metadata(job)["uid"])

    async def _write(
        self, node: KubeObject, patch: patches.Patch, known: Mapping[str, Any] | None = None
    ) -> None:
        """A node that is gone needs nothing. Raises ConflictError where it is another by now."""
        meta = {**(patch.get("metadata") or {}), **(known or {})}
        try:
            written = await self._client.patch(
                node, {**patch, "metadata": meta}, field_manager=FIELD_MANAGER
            )
        except NotFoundError:
            return
        self._stores.note_node(written)

    def _announce(self, node: KubeObject, reason: str, note: str, *, warning: bool = False) -> None:
        happening = Happening(action=reason, reason=reason, note=note, warning=warning)
        self._manager.events.announce(node, [happening])


def _concerns_pools(event: Change) -> bool:
    """Not what a node says of itself again and again."""
    if event.old is None or event.new is None:
        return True
    return state_of(event.old) != state_of(event.new) or labels_of(event.old) != labels_of(
        event.new
    )


def node_updates(
    manager: Manager,
    *,
    namespace: str,
    clock: Callable[[], datetime],
    look_seconds: float = LOOK_SECONDS,
) -> list[Registration]:
    """The rows of the controllers that update nodes.

    namespace     of this program, and of the Jobs
    look_seconds  after which a drain is looked at again
    """
    stores = NodeStores(manager, namespace)
    pools = NodePools(manager, stores, namespace=namespace, clock=clock)
    drains = NodeDrains(manager, stores, namespace=namespace, look_seconds=look_seconds)
    return [pools.registration(), drains.registration()]
