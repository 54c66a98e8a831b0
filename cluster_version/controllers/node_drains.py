"""Drains the nodes that are to be updated, and then makes the Job that updates each."""

import asyncio
from collections.abc import Iterable

from api.objects import GVK, KubeObject, annotations_of, metadata, name_of, namespace_of
from cluster_version.controllers.node_steps import DRAINS
from cluster_version.controllers.node_stores import JOB, NodeStores, Plan
from cluster_version.io.applying import FIELD_MANAGER
from cluster_version.nodes import patches
from cluster_version.nodes.draining import drain
from cluster_version.nodes.jobs import job_of
from cluster_version.nodes.names import REASON
from cluster_version.nodes.states import Step
from olm_runtime.controller.manager import Manager, Registration
from olm_runtime.controller.requests import Request
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome, Wait

POD = GVK("", "v1", "Pod")
WORKERS = 16
"""Nodes that are drained at once: one that takes long does not keep another."""
EVICTIONS = 10
LOOK_SECONDS = 5.0
TOO_MANY_REQUESTS = 429
"""A budget does not allow it now."""


class NodeDrains:
    """The controller. Requests name nodes; `NodePools` enqueues them."""

    def __init__(
        self,
        manager: Manager,
        stores: NodeStores,
        *,
        namespace: str,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """`namespace` is that of this program, and of the Jobs."""
        self._manager = manager
        self._client = manager.client
        self._stores = stores
        self._namespace = namespace
        self._look_seconds = look_seconds

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(name=DRAINS, reconciler=self, watches=(), workers=WORKERS)

    async def reconcile(self, request: Request) -> Outcome:
        """Has the pods of a node leave; when they have, has the node updated. Raises ApiError."""
        self._stores.check_synced()
        plan = self._stores.plan_of_node(request)
        if plan is None or plan.steps[request] is not Step.DRAIN:
            return Done()
        pods, _ = await self._client.list_all(POD, fields=f"spec.nodeName={request}")
        left = drain(pods, self._namespace)
        hindrances = await self._evict(left.to_evict)
        await self._note(plan.nodes[request], "; ".join(hindrances))
        if not left.is_done:
            return Wait(self._look_seconds)
        plan = self._stores.plan_of_node(request)  # again: it may have left its pool meanwhile
        if plan is not None and plan.steps[request] is Step.DRAIN:
            await self._make_job(plan, request)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """The log has it."""

    async def _evict(self, pods: Iterable[KubeObject]) -> list[str]:
        """Asks for all pods to leave; why some may not now. Raises ApiError."""
        at_once = asyncio.Semaphore(EVICTIONS)

        async def evict(pod: KubeObject) -> str:
            async with at_once:
                return await self._evict_one(pod)

        return sorted(filter(None, await asyncio.gather(*map(evict, pods))))

    async def _evict_one(self, pod: KubeObject) -> str:
        name, namespace = name_of(pod), namespace_of(pod)
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": metadata(pod)["uid"]}},
        }
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
        try:
            await self._client.request("POST", path, body=eviction)
        except NotFoundError:
            return ""
        except ApiError as error:
            if error.status != TOO_MANY_REQUESTS:
                raise
            return f"pod {namespace}/{name} cannot be evicted: {error.message}"
        return ""

    async def _note(self, node: KubeObject, hindrance: str) -> None:
        """Writes to the node why it takes so long."""
        if annotations_of(node).get(REASON, "") != hindrance:
            await self._patch(node, patches.hindrance(hindrance or None))

    async def _make_job(self, plan: Plan, name: str) -> None:
        """Not from memory alone: a Job that an earlier leader made may have restarted the node."""
        node = plan.nodes[name]
        job = job_of(node, plan.target, self._namespace)
        found = await self._client.find(JOB, name_of(job), self._namespace)
        if found is None:
            # Only if it is what it was: otherwise the node may be in use again, without a pool.
            version = {"resourceVersion": metadata(node)["resourceVersion"]}
            patch = patches.begin_job(plan.states[name])
            await self._patch(node, {**patch, "metadata": {**patch["metadata"], **version}})
            found = await self._client.create(job, field_manager=FIELD_MANAGER)
        self._stores.jobs.update(found)

    async def _patch(self, node: KubeObject, patch: patches.Patch) -> None:
        written = await self._client.patch(node, dict(patch), field_manager=FIELD_MANAGER)
        self._stores.note_node(written)
