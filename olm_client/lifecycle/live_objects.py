"""Reads the objects of a revision from the cluster: which exist, and whether they are healthy."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.objects import KubeObject, key_of, metadata
from olm_client.lifecycle.side_by_side import side_by_side
from olm_rollout.probes import Health, probe
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError


@dataclass(frozen=True, slots=True)
class LiveObject:
    """An object as desired and as live (None if absent), and what is wrong with it.

    `fault` is empty where nothing is wrong; `unknown`: it could not be read.
    """

    desired: KubeObject
    live: KubeObject | None
    fault: str = ""
    unknown: bool = False

    @property
    def state(self) -> str:
        """One word for `olm status`."""
        if self.unknown:
            return "Unknown"
        if self.live is None:
            return "Missing"
        if metadata(self.live).get("deletionTimestamp"):
            return "Deleting"
        return "NotReady" if self.fault else "Ready"


async def read_live(kube: KubeClient, objects: Sequence[KubeObject]) -> list[LiveObject]:
    """All of them, in their order; one that cannot be read is `unknown`."""

    async def one(obj: KubeObject) -> LiveObject:
        key = key_of(obj)
        try:
            live = await kube.find(key.gvk, key.name, key.namespace)
        except ApiError as error:
            return LiveObject(obj, None, error.message, unknown=True)
        if live is None:
            return LiveObject(obj, None, "is not there")
        found = probe(live)
        return LiveObject(obj, live, "" if found.health is Health.HEALTHY else found.message)

    return await side_by_side(one, objects)
