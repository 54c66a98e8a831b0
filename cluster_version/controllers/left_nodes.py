"""Ends the updates of nodes that left all pools meanwhile: nobody else would take them into use."""

from collections.abc import Iterable

from api.objects import KubeObject, name_of
from cluster_version.controllers.node_steps import NodeSteps
from cluster_version.controllers.node_stores import NODES, POOLS, NodeStores, jobs_in
from cluster_version.nodes.jobs import job_state
from cluster_version.nodes.pools import is_in_no_pool
from cluster_version.nodes.states import state_of, step_without_pool
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "left-nodes"


class LeftNodes:
    """The controller. Requests name nodes that are being updated."""

    def __init__(
        self, manager: Manager, stores: NodeStores, steps: NodeSteps, *, namespace: str
    ) -> None:
        """`namespace` is where the Jobs are."""
        self._manager = manager
        self._stores = stores
        self._steps = steps
        self._namespace = namespace

    def registration(self) -> Registration:
        """The row of this controller."""
        every = enqueue_mapped(self._updating)
        watched = (POOLS, NODES, jobs_in(self._namespace))
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[Watch(each, every) for each in watched],
            resync=self._resync,
            workers=1,
        )

    def _updating(self, _: KubeObject) -> list[Request]:
        return [name_of(node) for node in self._left()]

    def _left(self) -> Iterable[KubeObject]:
        pools = self._stores.pools.objects()
        for node in self._stores.nodes.objects():
            if state_of(node).is_updating and is_in_no_pool(node, pools):
                yield node

    async def _resync(self) -> Iterable[Request]:
        return self._updating({})

    async def reconcile(self, request: Request) -> Outcome:
        """Does what is next about a node without a pool. Raises OLMError."""
        self._stores.check_synced()
        node = next((each for each in self._left() if name_of(each) == request), None)
        if node is None:
            return Done()
        state = state_of(node)
        step = step_without_pool(state, job_state(self._stores.job(state)))
        await self._steps.take(node, state, step, state.desired)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """The log has it: what concerns a node is in its annotations."""
