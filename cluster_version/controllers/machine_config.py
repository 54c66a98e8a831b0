"""Says in ClusterOperator/machine-config whether nodes are as the release has them.

A release that has that ClusterOperator waits for it; without it nobody waits for nodes.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

from api.objects import KubeObject, annotations_of, name_of
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.apply.requests import is_create_only
from cluster_version.controllers.node_stores import POOL, POOLS
from cluster_version.controllers.sync_worker import Work
from cluster_version.names import DELETE
from cluster_version.nodes.cluster_operator import NAME, Nodes, nodes_status
from cluster_version.payload.inclusion import left_out
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.outcome import Done, Failed, Outcome


class MachineConfig:
    """The controller. Its one request names the ClusterOperator."""

    def __init__(
        self,
        manager: Manager,
        work: Callable[[], Work | None],
        *,
        clock: Callable[[], datetime],
    ) -> None:
        """`work` is the release that is applied, None if there is none yet."""
        self._manager = manager
        self._work = work
        self._clock = clock
        self._pools = manager.selected(POOLS)
        self._operators = manager.store(CLUSTER_OPERATOR)

    def registration(self) -> Registration:
        """The row of this controller. A release begins with a new status of its ClusterVersion."""
        watched = (Watch(POOLS, _again), Watch(CLUSTER_VERSION, _again))
        watches = [*watched, Watch(CLUSTER_OPERATOR, _of_its_own)]
        return Registration(name=NAME, reconciler=self, watches=watches, workers=1)

    async def reconcile(self, request: Request) -> Outcome:
        """Writes the status if it is another. Raises OLMError."""
        self._pools.check_synced()
        self._operators.check_synced()
        operator, work = self._operators.get(request), self._work()
        if operator is None or work is None:
            return Done()
        version = work.payload.release.version
        nodes = Nodes(self._pools.objects(), list(_pools_of(work)), version)
        if nodes.is_ours:
            status = nodes_status(nodes, operator.get("status") or {}, self._clock())
            await self._manager.statuses.write(operator, status)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """The log has it."""


def _pools_of(work: Work) -> Iterator[KubeObject]:
    """The pools that a release keeps as it has them."""
    for manifest in work.payload.manifests:
        obj = manifest.object
        is_pool = (obj["apiVersion"], obj["kind"]) == (POOL.api_version, POOL.kind)
        is_reconciled = not is_create_only(obj) and DELETE not in annotations_of(obj)
        if is_pool and is_reconciled and not left_out(obj, work.filters):
            yield obj


def _again(_: Change, enqueue: Enqueue) -> None:
    enqueue(NAME)


def _of_its_own(event: Change, enqueue: Enqueue) -> None:
    if name_of(event.object) == NAME:
        enqueue(NAME)
