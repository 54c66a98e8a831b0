"""Looks at the objects of a revision: which are there, and whether they work."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from api.objects import KubeObject, key_of, metadata
from olm_rollout.probes.probes import Health, probe
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

PARALLEL_REQUESTS = 16


@dataclass(frozen=True, slots=True)
class Look:
    """An object as it should be, as it is (None if it is not there), and what is wrong with it.

    `fault` is empty where nothing is; `unknown`: it could not be looked at.
    """

    wanted: KubeObject
    live: KubeObject | None
    fault: str = ""
    unknown: bool = False

    @property
    def state(self) -> str:
        """In a word."""
        if self.unknown:
            return "Unknown"
        if self.live is None:
            return "Missing"
        if metadata(self.live).get("deletionTimestamp"):
            return "Deleting"
        return "NotReady" if self.fault else "Ready"


async def look_at(kube: KubeClient, objects: Sequence[KubeObject]) -> list[Look]:
    """All of them, in their order; what cannot be read is told in the answer."""
    slots = asyncio.Semaphore(PARALLEL_REQUESTS)

    async def one(obj: KubeObject) -> Look:
        key = key_of(obj)
        async with slots:
            try:
                live = await kube.find(key.gvk, key.name, key.namespace)
            except ApiError as error:
                return Look(obj, None, error.message, unknown=True)
        if live is None:
            return Look(obj, None, "is not there")
        found = probe(live)
        return Look(obj, live, "" if found.health is Health.HEALTHY else found.message)

    return await asyncio.gather(*map(one, objects))
