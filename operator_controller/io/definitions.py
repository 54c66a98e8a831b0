"""Compares the CustomResourceDefinitions of a bundle with those in the cluster."""

import asyncio
from collections.abc import Sequence

from olm_shared.kube_object import GVK, KubeObject, gvk_of, name_of
from olm_shared.runtime.kube import KubeClient
from operator_controller.preflight.crd_upgrade import Finding, check, report

DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

PARALLEL_COMPARISONS = 4
"""Live definitions held in memory at a time; they are up to a megabyte each."""


async def unsafe_definitions(client: KubeClient, objects: Sequence[KubeObject]) -> str | None:
    """Why applying `objects` would endanger stored objects; None where it does not.

    Each definition among them is compared with the live one of its name, read as `client`; those
    that are new are safe. Raises ApiError naming the definition that could not be read.
    """
    slots = asyncio.Semaphore(PARALLEL_COMPARISONS)

    async def compare(new: KubeObject) -> tuple[Finding, ...]:
        async with slots:
            live = await client.find(DEFINITION, name_of(new))
            return await asyncio.to_thread(check, live, new) if live is not None else ()

    definitions = [obj for obj in objects if gvk_of(obj) == DEFINITION]
    found = await asyncio.gather(*(compare(definition) for definition in definitions))
    return report(finding for findings in found for finding in findings) or None
