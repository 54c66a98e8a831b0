"""Reads what belongs to the objects of an extension: ReplicaSets, Pods and Events."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.objects import GVK, KubeObject
from console.kinds import EVENT, POD, REPLICA_SET
from console.users import User
from olm_runtime.kube.errors import ApiError
from olm_runtime.kube.events import CLUSTER_NAMESPACE

WORKLOADS = frozenset({"DaemonSet", "Deployment", "Job", "StatefulSet"})
MAX_NAMESPACES = 4
"""Of an extension; each costs three lists."""


@dataclass(slots=True)
class Around:
    """What was found, and why something was not."""

    owned: list[KubeObject] = field(default_factory=list)
    events: list[KubeObject] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


async def read_around(user: User, objects: Iterable[Mapping[str, Any]]) -> Around:
    """What belongs to objects, as far as the user may read it."""
    found = Around()
    objects = list(objects)
    every = sorted({each["namespace"] for each in objects if each["namespace"]})
    own = every[:MAX_NAMESPACES]
    if len(every) > len(own):
        found.unknown.append(f"pods and Events of {len(own)} of {len(every)} namespaces")
    busy = {each["namespace"] for each in objects if each["kind"] in WORKLOADS}
    events = {*own, CLUSTER_NAMESPACE}
    await asyncio.gather(
        *(
            _list(user, gvk, place, found.owned, found)
            for gvk in (REPLICA_SET, POD)
            for place in own
            if place in busy
        ),
        *(_list(user, EVENT, place, found.events, found) for place in sorted(events)),
    )
    return found


async def _list(
    user: User, gvk: GVK, namespace: str, into: list[KubeObject], found: Around
) -> None:
    if not await user.may("list", gvk, namespace):
        found.unknown.append(f"you may not list {gvk.kind}s in namespace {namespace}")
        return
    try:
        into += (await user.kube.list_all(gvk, namespace, keep=_without_fields))[0]
    except ApiError as error:
        found.unknown.append(error.message)


def _without_fields(obj: KubeObject) -> KubeObject:
    obj["metadata"].pop("managedFields", None)
    return obj
