"""Compares the CustomResourceDefinitions of a bundle with those in the cluster."""

import asyncio
from collections.abc import Sequence

from olm_shared.kube_object import GVK, KubeObject, gvk_of, name_of
from olm_shared.runtime.kube import KubeClient
from operator_controller.io.stored_objects import Bounds, examine
from operator_controller.preflight.crd_upgrade import Finding, check
from operator_controller.preflight.crd_upgrade.stored import (
    Question,
    questions,
    report_with_stored,
)

DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

PARALLEL_COMPARISONS = 4
"""Live definitions held in memory at a time; they are up to a megabyte each."""


STORED_BOUNDS = Bounds(objects=500, seconds=10.0)
"""How far to look at stored objects for a condition; `olm crd check` looks further."""


async def unsafe_definitions(client: KubeClient, objects: Sequence[KubeObject]) -> str | None:
    """Why applying `objects` would endanger stored objects; None where it does not.

    Each definition among them is compared with the live one of its name, read as `client`; those
    that are new are safe. Where one is refused, the last lines tell how many stored objects would
    be invalid. Raises ApiError naming the definition that could not be read.
    """
    slots = asyncio.Semaphore(PARALLEL_COMPARISONS)
    turn = asyncio.Lock()  # more threads would be no faster, and the event loop would wait for all

    async def compare(new: KubeObject) -> tuple[tuple[Finding, ...], tuple[Question, ...]]:
        async with slots:
            live = await client.find(DEFINITION, name_of(new))
            if live is None:
                return (), ()
            async with turn:
                findings = await asyncio.to_thread(check, live, new)
            return findings, questions(live, new, findings)

    definitions = [obj for obj in objects if gvk_of(obj) == DEFINITION]
    compared = await asyncio.gather(*(compare(definition) for definition in definitions))
    findings = [finding for found, _ in compared for finding in found]
    if not findings:
        return None
    asked = sorted((question for _, each in compared for question in each), key=_order)
    examined = await examine(client, asked, STORED_BOUNDS)
    return report_with_stored(findings, examined)


def _order(question: Question) -> tuple[str, str, str]:
    return question.crd, question.version, question.kind.version
