"""Groups of manifests applied in the order of their graph."""

import asyncio
from collections.abc import Awaitable, Callable

from cluster_version.payload.task_graph import Group, TaskGraph
from olm_runtime.errors import OLMError


async def run(graph: TaskGraph, apply: Callable[[Group], Awaitable[None]]) -> list[OLMError]:
    """Applies each group once those before it are done; the errors of those that failed.

    What waits for a group that failed is left out, what does not goes on.
    """
    errors: list[OLMError] = []
    free = asyncio.Semaphore(graph.workers)
    begun: list[asyncio.Task[bool]] = []

    async def apply_in_turn(group: Group, before: list[asyncio.Task[bool]]) -> bool:
        if not all(await asyncio.gather(*before)):
            return False
        async with free:
            try:
                await apply(group)
            except OLMError as error:
                errors.append(error)
                return False
        return True

    async with asyncio.TaskGroup() as tasks:
        for group in graph.groups:
            before = [begun[position] for position in group.after]
            begun.append(tasks.create_task(apply_in_turn(group, before)))
    return errors
