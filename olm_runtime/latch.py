"""A flag that is set once, and that others may wait for."""

import asyncio


class Latch:
    """As asyncio.Event, which has ten times the memory: there are thousands, one for each watch."""

    __slots__ = ("_is_set", "_waited_for")

    def __init__(self) -> None:
        self._is_set = False
        self._waited_for: asyncio.Event | None = None

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def set(self) -> None:
        """Lets all who wait go on. Idempotent."""
        self._is_set = True
        if self._waited_for is not None:
            self._waited_for.set()
            self._waited_for = None

    async def wait(self) -> None:
        """Until it is set."""
        if self._is_set:
            return
        if self._waited_for is None:
            self._waited_for = asyncio.Event()
        await self._waited_for.wait()
