"""Reads what definitions and namespaces wait for that are being deleted."""

import asyncio
import re
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import replace

from api.objects import KubeObject, condition, is_deleting, labels_of, metadata, name_of
from api.olm.v1 import names
from olm_client.diagnosis.facts import Fact, Lack, Snapshot, unique
from olm_client.diagnosis.listing import Lists, Read, joined
from olm_rollout.remains import instances_kind
from olm_runtime.kube.discovery import Resource
from olm_runtime.kube.errors import ApiError

_REMAINING = re.compile(r"(\S+) has \d+ resource instances")
"""How a namespace's condition NamespaceContentRemaining names a resource: `plural.group`."""


async def read_stuck(snapshot: Snapshot, lists: Lists) -> Snapshot:
    """With the metadata of what is being deleted, and the definitions that cannot be listed."""
    definitions = [d for d in snapshot.all(Fact.DEFINITIONS) if _is_of_interest(d)]
    inside, (served, unserved) = await asyncio.gather(
        asyncio.gather(*(_instances(lists, each) for each in definitions)),
        _in_namespaces(snapshot, lists),
    )
    unreadable = {
        name_of(definition): lacks[0].why
        for definition, (_, lacks) in zip(definitions, inside, strict=True)
        if lacks and not lacks[0].why.startswith("you lack")
    }
    forbidden = [
        lack
        for definition, (_, lacks) in zip(definitions, inside, strict=True)
        for lack in lacks
        if name_of(definition) not in unreadable
    ]
    owned = [obj for obj in snapshot.all(Fact.OWNED) if is_deleting(obj)]
    found = [obj for objects, _ in inside for obj in objects if is_deleting(obj)]
    return replace(
        snapshot,
        objects={**snapshot.objects, Fact.STUCK: unique([*owned, *found, *served])},
        lacks={**snapshot.lacks, Fact.STUCK: [*forbidden, *unserved]},
        unreadable=unreadable,
    )


def _is_of_interest(definition: KubeObject) -> bool:
    """Those of extensions, those that are being deleted, and those with a conversion webhook."""
    conversion = (definition.get("spec") or {}).get("conversion") or {}
    owned = labels_of(definition).get(names.LABEL_OWNER_KIND) == names.CLUSTER_EXTENSION
    return owned or is_deleting(definition) or conversion.get("strategy") == "Webhook"


async def _instances(lists: Lists, definition: KubeObject) -> Read:
    kind = instances_kind(definition)
    if kind is None:
        return [], []
    spec = definition.get("spec") or {}
    plural = str((spec.get("names") or {}).get("plural"))
    return await lists.metadata_of(Resource(kind, plural, spec.get("scope") == "Namespaced"))


async def _in_namespaces(snapshot: Snapshot, lists: Lists) -> Read:
    """What is left in namespaces that are being deleted, by what their conditions name."""
    waiting = {
        name_of(obj): list(_remaining(obj))
        for obj in snapshot.all(Fact.NAMESPACES)
        if is_deleting(obj)
    }
    if not any(waiting.values()):
        return [], []
    try:
        served = {
            f"{resource.plural}.{resource.gvk.group}": resource
            for resource, _ in await lists.resources()
        }
    except ApiError as error:
        return [], [Lack("which kinds there are is not known", error.message)]
    reads = await asyncio.gather(*_lists(lists, waiting, served))
    found, lacks = joined(reads)
    return [obj for obj in found if metadata(obj).get("finalizers")], lacks


def _lists(
    lists: Lists, waiting: Mapping[str, list[str]], served: Mapping[str, Resource]
) -> Iterator[Awaitable[Read]]:
    for namespace, resources in waiting.items():
        for each in resources:
            if each in served:
                yield lists.metadata_of(served[each], namespace)


def _remaining(namespace: KubeObject) -> Iterator[str]:
    message = (condition(namespace, "NamespaceContentRemaining") or {}).get("message") or ""
    yield from _REMAINING.findall(str(message))
