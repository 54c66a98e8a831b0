"""Asynchronous work of commands, which Ctrl-C ends."""

import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T], *, serves: bool = False) -> T:
    """As asyncio.run. What fails after Ctrl-C, before it came to cancel the work, is Ctrl-C too.

    What serves for hours gets the loop of programs, which most commands would only wait for.
    """
    import asyncio

    async def cancelled_at_last() -> T:
        try:
            return await work
        except Exception:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
            raise

    with asyncio.Runner(loop_factory=_loop_of_programs() if serves else None) as runner:
        return runner.run(cancelled_at_last())


def _loop_of_programs() -> "Callable[[], AbstractEventLoop] | None":
    """None where there is no other than asyncio's own."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
