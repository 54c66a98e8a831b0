"""What happened to the objects of a kind, in order."""

from typing import Any

from api.objects import GVK, KubeObject
from cluster_version.nodes.names import NODE_JOB
from olm_runtime.kube.client import KubeClient

NODE, POD, JOB = GVK("", "v1", "Node"), GVK("", "v1", "Pod"), GVK("batch", "v1", "Job")


class Recorded:
    """Every change of the objects of a kind that have a label: what any was like at any time."""

    def __init__(self, client: KubeClient, kind: GVK, labels: str = "") -> None:
        self._client = client
        self._kind = kind
        self._labels = labels
        self.events: list[tuple[str, KubeObject]] = []
        """Whether it was ADDED, MODIFIED or DELETED, and the object."""

    async def run(self, version: str) -> None:
        """Since a version, until cancelled."""
        seen: dict[str, Any] = {"resource_version": version, "labels": self._labels}
        async for event in self._client.watch(self._kind, **seen):
            if event["type"] != "BOOKMARK":
                self.events.append((event["type"], event["object"]))


class UpdatesRun(Recorded):
    """The pods in which updates are run."""

    def __init__(self, client: KubeClient) -> None:
        super().__init__(client, POD, NODE_JOB)

    @property
    def nodes(self) -> list[str]:
        """The nodes on which an update was run, one by one."""
        return [pod["spec"]["nodeName"] for kind, pod in self.events if kind == "ADDED"]
