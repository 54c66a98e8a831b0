"""Asynchronous work of commands, which Ctrl-C ends."""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """As asyncio.run. What fails after Ctrl-C, before it came to cancel the work, is Ctrl-C too."""
    import asyncio

    async def cancelled_at_last() -> T:
        try:
            return await work
        except Exception:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from None
            raise

    return asyncio.run(cancelled_at_last())
