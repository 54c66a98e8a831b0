"""Answers that hold for a while; who asks for one that is on its way waits for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

MOST = 4096

V = TypeVar("V")


class Remembered(Generic[V]):
    """Answers by key, the oldest forgotten when there are MOST."""

    def __init__(self, clock: Callable[[], float], most: int = MOST) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._most = most
        self._known: dict[str, tuple[V, float]] = {}
        self._asking: dict[str, asyncio.Task[V]] = {}

    async def get(self, key: str, ask: Callable[[], Awaitable[tuple[V, float]]]) -> V:
        """The answer, from `ask` if it is not known: with it for how many seconds it holds."""
        known = self._known.get(key)
        if known is not None and known[1] > self._clock():
            return known[0]
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.ensure_future(self._find_out(key, ask))
        return await asyncio.shield(asking)

    async def _find_out(self, key: str, ask: Callable[[], Awaitable[tuple[V, float]]]) -> V:
        try:
            answer, seconds = await ask()
        finally:
            del self._asking[key]
        self._known.pop(key, None)
        if len(self._known) >= self._most:
            del self._known[next(iter(self._known))]
        self._known[key] = answer, self._clock() + seconds
        return answer
