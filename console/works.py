"""Work for a user that no page waits for, such as reading catalogs."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

PAUSE_SECONDS = 10.0
"""For which the outcome of work counts: pages that it makes anew do not begin it again."""


@dataclass(slots=True)
class Works:
    """One of each name at a time."""

    now: Callable[[], float]
    _tasks: dict[str, asyncio.Task[Any]] = field(default_factory=dict)
    _ended: dict[str, float] = field(default_factory=dict)

    def begin(self, name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """The task that does it: a new one, or the last one while that counts."""
        self._forget()
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._run(name, work))
        return self._tasks[name]

    async def close(self) -> None:
        """Ends all."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, name: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        try:
            return await work()
        finally:
            self._ended[name] = self.now()

    def _forget(self) -> None:
        over = [name for name, at in self._ended.items() if self.now() - at > PAUSE_SECONDS]
        for name in over:
            del self._ended[name], self._tasks[name]
