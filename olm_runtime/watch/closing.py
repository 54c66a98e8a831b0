"""Ends an event loop whose tasks are another's, and may not end as they are told."""

import asyncio
from contextlib import suppress
from typing import Any

CANCEL_SECONDS = 1.0
ENDS = 5
"""How often a coroutine is ended that waits for something when it is."""
ALL_SECONDS = 3.0
"""For how long tasks are ended that others began at their end."""


def close(loop: asyncio.AbstractEventLoop) -> None:
    """Ends a loop, and does not wait for tasks that go on although they were cancelled."""
    last = loop.time() + ALL_SECONDS
    while (tasks := asyncio.all_tasks(loop)) and loop.time() < last:
        loop.run_until_complete(_abandon(_cancelled(loop, tasks)))
    if not tasks:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    loop.run_until_complete(_abandon(asyncio.all_tasks(loop)))
    loop.close()


def _cancelled(
    loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[Any]]
) -> set[asyncio.Task[Any]]:
    """Cancels tasks of a loop; those that go on for a while nevertheless."""
    for task in tasks:
        task.cancel()
    waiting = asyncio.wait(tasks, timeout=CANCEL_SECONDS)
    return loop.run_until_complete(waiting)[1]


async def _abandon(tasks: set[asyncio.Task[Any]]) -> None:
    """Ends coroutines while there is a loop for what they do then.

    The collector would end them when there is none, and print the errors of that.
    """
    for task in tasks:
        coroutine: Any = task.get_coro()
        for _ in range(ENDS):
            with suppress(RuntimeError):  # it waits for something at its end
                coroutine.close()
                break
    await asyncio.sleep(0)  # what they began has begun
