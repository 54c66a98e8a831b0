"""Nodes without a kubelet: a task does what matters of one, for all of them."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from api.objects import GVK, KubeObject, is_deleting, labels_of, metadata, name_of, namespace_of
from cluster_version.nodes.names import NODE_JOB
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError

NODE, POD, JOB = GVK("", "v1", "Node"), GVK("", "v1", "Pod"), GVK("batch", "v1", "Job")
LOOK_SECONDS = 0.15
READY = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}


class Kubelets:
    """Runs pods, ends those that are deleted, and restarts a node once its update has run."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self._boots: dict[str, int] = {}
        self.failing: set[str] = set()
        """Nodes whose updates fail."""
        self.ran: list[str] = []
        """The nodes on which an update was run, one by one."""

    async def add_node(self, name: str, labels: Mapping[str, str]) -> None:
        """A node that is ready."""
        meta = {"name": name, "labels": dict(labels)}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": meta}
        await self._client.create(node, field_manager="test")
        status = {"conditions": [READY], "nodeInfo": _node_info(f"{name}-0")}
        await self.set_status(name, status)

    async def set_status(self, name: str, status: Mapping[str, Any]) -> None:
        """Of a node."""
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        await self._client.patch(node, {"status": status}, subresource="status")

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            pods, _ = await self._client.list_all(POD)
            await asyncio.gather(*map(self._see, pods))
            await asyncio.sleep(LOOK_SECONDS)

    async def _see(self, pod: KubeObject) -> None:
        with suppress(NotFoundError):
            if is_deleting(pod):
                await self._end(pod)
            elif pod["status"]["phase"] == "Pending" and NODE_JOB in labels_of(pod):
                await self._update(pod)
            elif pod["status"]["phase"] == "Pending":
                await self._set_phase(pod, "Running", conditions=[READY])

    async def _end(self, pod: KubeObject) -> None:
        path = f"/api/v1/namespaces/{namespace_of(pod)}/pods/{name_of(pod)}"
        await self._client.request("DELETE", path, body={"gracePeriodSeconds": 0})

    async def _update(self, pod: KubeObject) -> None:
        """The command runs, and the node restarts."""
        node = pod["spec"]["nodeName"]
        self.ran.append(node)
        if node in self.failing:
            owner = metadata(pod)["ownerReferences"][0]["name"]
            job = await self._client.get(JOB, owner, namespace_of(pod))
            await self._client.patch(job, {"spec": {"backoffLimit": 0}})
            await self._set_phase(pod, "Failed")
            return
        await self._set_phase(pod, "Succeeded")
        self._boots[node] = self._boots.get(node, 0) + 1
        await self.set_status(node, {"nodeInfo": {"bootID": f"{node}-{self._boots[node]}"}})

    async def _set_phase(self, pod: KubeObject, phase: str, **status: Any) -> None:
        await self._client.patch(pod, {"status": {"phase": phase} | status}, subresource="status")


def _node_info(boot_id: str) -> dict[str, str]:
    keys = (
        *("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion"),
        *("kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"),
    )
    return dict.fromkeys(keys, "") | {"bootID": boot_id}


class NodeEvents:
    """Every change of nodes, in order: what any of them was like at any time."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.events: list[KubeObject] = []

    async def run(self, version: str) -> None:
        """Since a version, until cancelled."""
        async for event in self._client.watch(NODE, resource_version=version):
            if event["type"] != "BOOKMARK":
                self.events.append(event["object"])
