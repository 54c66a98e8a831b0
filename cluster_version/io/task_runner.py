"""Groups of manifests applied in the order of their graph."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from cluster_version.payload.task_graph import Group, TaskGraph, rotated
from olm_runtime.errors import OLMError

PERIOD = 8
"""Of so many attempts, each begins elsewhere in the same order."""


def shuffled(count: int, attempt: int) -> list[int]:
    """The order in which as many groups are begun while a cluster is reconciled.

    What hangs must not always keep the same ones from their turn. The same order for an attempt
    at any time, so that what went wrong can be repeated.
    """
    order = list(range(count))
    random.Random(attempt // PERIOD).shuffle(order)  # noqa: S311 - nobody is to be kept from guessing it
    return rotated(order, attempt % PERIOD, PERIOD)


async def run(
    graph: TaskGraph,
    apply: Callable[[Group], Awaitable[None]],
    order: Sequence[int] | None = None,
) -> list[OLMError]:
    """Applies each group once those before it are done; the errors of those that failed.

    What waits for a group that failed is left out, what does not goes on. `order`: in which groups
    that wait for nothing are begun, where that is not the order of the graph.
    """
    errors: list[OLMError] = []
    free = asyncio.Semaphore(graph.workers)
    begun: dict[int, asyncio.Task[bool]] = {}

    async def apply_in_turn(group: Group) -> bool:
        if not all(await asyncio.gather(*(begun[position] for position in group.after))):
            return False
        async with free:
            try:
                await apply(group)
            except OLMError as error:
                errors.append(error)
                return False
        return True

    async with asyncio.TaskGroup() as tasks:
        for position in range(len(graph.groups)) if order is None else order:
            begun[position] = tasks.create_task(apply_in_turn(graph.groups[position]))
    return errors
