"""Asks the API server about many things at once, and not about all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

A = TypeVar("A")
T = TypeVar("T")

PARALLEL_REQUESTS = 16


async def side_by_side(
    ask: Callable[[A], Awaitable[T]], asked: Iterable[A], at_once: int = PARALLEL_REQUESTS
) -> list[T]:
    """The answers, in the order of what was asked about. Raises what `ask` raises first."""
    slots = asyncio.Semaphore(at_once)

    async def one(each: A) -> T:
        async with slots:
            return await ask(each)

    return await asyncio.gather(*map(one, asked))
