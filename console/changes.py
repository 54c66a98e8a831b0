"""Tells open pages of the kinds whose objects changed."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

GATHER_SECONDS = 0.2
"""Changes that come together are told together."""

CONNECTION = "connection"
"""What is told like a kind: that the API server went away, or is there again."""

MAX_LISTENERS = 1000
"""One serves all tabs of a browser."""


@dataclass(slots=True, eq=False)
class _Listener:
    kinds: set[str] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


class Changes:
    """What changed, and who listens.

    `mark` names a moment: whoever was away since another is told of what changed since then.
    """

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)
        self._count = 0
        self._noted: dict[str, int] = {}
        self._listeners: set[_Listener] = set()
        self._ended = False

    @property
    def mark(self) -> str:
        """This moment."""
        return f"{self._run}-{self._count}"

    def note(self, kind: str) -> None:
        """Objects of the kind changed."""
        self._count += 1
        self._noted[kind] = self._count
        for each in self._listeners:
            each.kinds.add(kind)
            each.woken.set()

    @property
    def full(self) -> bool:
        """Whether as many listen as may."""
        return len(self._listeners) >= MAX_LISTENERS

    def end(self) -> None:
        """Tells no more: who listens leaves."""
        self._ended = True
        for each in self._listeners:
            each.woken.set()

    def _changed_since(self, mark: str) -> set[str]:
        """All that ever changed, where a mark is of another run, or none at all."""
        run, _, number = mark.rpartition("-")
        before = int(number) if run == self._run and number.isdecimal() else -1
        return {kind for kind, count in self._noted.items() if count > before}

    async def since(self, mark: str, quiet: float) -> AsyncIterator[frozenset[str]]:
        """The kinds that changed, as they do, until the end; none after so many quiet seconds."""
        listener = _Listener()
        listener.kinds |= self._changed_since(mark)
        if listener.kinds:
            listener.woken.set()
        self._listeners.add(listener)
        try:
            while not self._ended:
                try:
                    async with asyncio.timeout(quiet):
                        await listener.woken.wait()
                except TimeoutError:
                    yield frozenset()
                    continue
                if self._ended:
                    return
                await asyncio.sleep(GATHER_SECONDS)
                kinds = frozenset(listener.kinds)
                listener.kinds.clear()
                listener.woken.clear()
                yield kinds
        finally:
            self._listeners.discard(listener)
