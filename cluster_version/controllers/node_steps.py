"""Does what is next about a node, and reports it; the drain and the Job are `node_drains`'."""

from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject, metadata
from cluster_version.controllers.node_stores import NodeStores
from cluster_version.io.applying import FIELD_MANAGER
from cluster_version.nodes import patches
from cluster_version.nodes.jobs import configuration_of, job_failure
from cluster_version.nodes.states import NodeState, Step, state_of
from olm_runtime.controller.manager import Manager
from olm_runtime.event import Happening
from olm_runtime.kube.errors import NotFoundError

DRAINS = "node-drains"
"""The controller that drains nodes; requests name these."""
LOST = "it is in no pool any more, and the Job that updated it is gone: nobody knows what it has"


class NodeSteps:
    """Takes steps, one for a node at a time."""

    def __init__(self, manager: Manager, stores: NodeStores) -> None:
        self._manager = manager
        self._client = manager.client
        self._stores = stores

    async def take(self, node: KubeObject, state: NodeState, step: Step, target: str) -> None:
        """One step with a node that was looked at. Raises OLMError."""
        name = state.name
        match step:
            case Step.CORDON:
                await self._begin(node, state, target)
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
                await self._write(node, patches.give_back(state), _very(node))
                self._announce(node, "Uncordon", f"Node {name} is as it was")
        await self._delete_others(name)

    async def _begin(self, node: KubeObject, state: NodeState, target: str) -> None:
        await self._write(node, patches.cordon(state, target), _very(node))
        self._announce(node, "Cordon", f"Cordoned node to update it to {target}")

    async def _report(self, node: KubeObject, state: NodeState) -> None:
        job = self._stores.job(state)
        reason = LOST if job is None else job_failure(job)
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


def _very(node: KubeObject) -> Mapping[str, Any]:
    """Only the very node that was looked at: what it was like is counted upon."""
    return {"resourceVersion": metadata(node)["resourceVersion"]}
