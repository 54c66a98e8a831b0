"""Loops whose tasks go on although they are cancelled: nothing of them is printed later."""

import asyncio
import gc
import sys
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from olm_runtime.watch import closing
from olm_runtime.watch.closing import close


async def wait(condition: asyncio.Condition) -> None:
    async with condition:
        await condition.wait_for(lambda: False)


async def heir(ended: list[str]) -> None:
    """Ends as it is told, and leaves a task that it began then."""
    condition = asyncio.Condition()
    try:
        await asyncio.sleep(60)
    finally:
        asyncio.get_running_loop().create_task(wait(condition))
        await asyncio.sleep(0)
        await condition.acquire()
        ended.append("ended")


async def generations(ended: list[str]) -> None:
    """Begins a task at its end, which begins another at its own: one that waits for a Condition
    whose lock is not given back."""
    condition = asyncio.Condition()

    async def second() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            third = asyncio.create_task(wait(condition))
            await asyncio.sleep(0)
            await condition.acquire()
            ended.append("ended")
            await asyncio.shield(third)

    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.create_task(second())


async def stubborn(ended: list[str]) -> None:
    """Goes on when it is cancelled, and begins and awaits another task when it is ended."""
    try:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue
    finally:
        ended.append("ended")
        await asyncio.create_task(asyncio.sleep(60))


@pytest.mark.parametrize("task", [stubborn, generations, heir])
def test_what_goes_on_is_ended_while_there_is_a_loop(
    task: Callable[[list[str]], Coroutine[Any, Any, None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "CANCEL_SECONDS", 0.05)
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: printed.append(raised.exc_value))
    ended: list[str] = []
    tasks: list[asyncio.Task[None]] = []

    async def begin() -> None:
        tasks.append(asyncio.create_task(task(ended)))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    loop.run_until_complete(begin())
    close(loop)
    assert ended == ["ended"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tasks.clear()
        gc.collect()
    assert printed == []
    assert loop.is_closed()
