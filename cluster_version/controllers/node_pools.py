"""Brings the nodes of MachineConfigPools to their configuration, a few at a time."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from api.objects import KubeObject, labels_of, name_of
from cluster_version.controllers.left_nodes import LeftNodes
from cluster_version.controllers.node_drains import LOOK_SECONDS, NodeDrains
from cluster_version.controllers.node_steps import NodeSteps
from cluster_version.controllers.node_stores import NODES, POOLS, NodeStores, Plan, jobs_in
from cluster_version.nodes.pool_status import pool_status
from cluster_version.nodes.states import state_of
from olm_runtime.controller.handlers import Change, enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.errors import OLMError
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
        steps: NodeSteps,
        *,
        namespace: str,
        clock: Callable[[], datetime],
    ) -> None:
        """`namespace` is where the Jobs are."""
        self._stores = stores
        self._steps = steps
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
            *(
                self._steps.take(
                    plan.nodes[name], plan.states[name], plan.steps[name], plan.target.name
                )
                for name in names
            ),
            return_exceptions=True,
        )
        problems = []
        for name, answer in zip(names, answers, strict=True):
            match answer:
                case OLMError():
                    problems.append(f"node {name}: {answer.message}")
                case BaseException():
                    raise answer
        return problems


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
    steps = NodeSteps(manager, stores)
    pools = NodePools(manager, stores, steps, namespace=namespace, clock=clock)
    left = LeftNodes(manager, stores, steps, namespace=namespace)
    drains = NodeDrains(manager, stores, namespace=namespace, look_seconds=look_seconds)
    return [pools.registration(), drains.registration(), left.registration()]
