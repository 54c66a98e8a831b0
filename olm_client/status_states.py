"""What `olm status` shows of one extension, once or after each change, from a cluster's objects."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from api.objects import KubeObject, name_of
from api.olm.v1.kinds import CATALOG, EXTENSION, OBJECT_SET
from olm_client.extension import no_extension
from olm_client.lifecycle.informer_cache import InformerCache, Objects
from olm_client.lifecycle.overview import overview_facts
from olm_client.reach import Reach, cluster
from olm_client.status import facts_of
from olm_runtime.kube.client import KubeClient

Facts = dict[str, Any]


async def show_states(
    extension: str | None, reach: Reach, show: Callable[[Facts, str], None], *, watch: bool
) -> None:
    """Shows the facts, and why they may be outdated; with `watch` again after each change."""
    async with cluster(reach) as kube:
        states = _states(kube, extension)
        async with aclosing(states):
            async for facts, fault in states:
                show(facts, fault)
                if not watch:
                    return


async def _states(
    kube: KubeClient, extension: str | None
) -> AsyncGenerator[tuple[Facts, str], None]:
    """The facts now and after each change, and why they may be outdated."""
    cache = InformerCache(kube, (EXTENSION, OBJECT_SET) if extension else (EXTENSION, CATALOG))
    before: Facts | None = None
    async with aclosing(cache.states()) as states:
        async for objects in states:
            facts = (
                await facts_of(kube, _one(objects, extension), objects[OBJECT_SET])
                if extension
                else overview_facts(objects[EXTENSION], objects[CATALOG])
            )
            if facts != before or cache.fault:
                yield facts, cache.fault
            before = facts


def _one(objects: Objects, name: str) -> KubeObject:
    for raw in objects[EXTENSION]:
        if name_of(raw) == name:
            return raw
    raise no_extension(name, map(name_of, objects[EXTENSION]))
