"""Tells open pages of the kinds whose objects changed."""

import asyncio
import secrets
from collections.abc import AsyncGenerator

GATHER_SECONDS = 0.2
"""Changes that come together are told together."""

APART_SECONDS = 0.8
"""How far apart pages are told of changes where there is always one: they still show each within a
second, and all ask at once, so that one answer does for many."""

CONNECTION = "connection"
"""What is told like a kind: that the API server went away, or is there again."""

QUIET_SECONDS = 20.0
"""After which listeners are told that there is nothing: many proxies cut at half a minute."""

MAX_LISTENERS = 1000
"""One serves all tabs of a browser."""


class Changes:
    """What changed, and who listens.

    `mark` names a moment: whoever was away since another is told of what changed since then.
    `count` is how many changes there were, and `told` how many of them were told.
    """

    def __init__(self, quiet: float = QUIET_SECONDS) -> None:
        self.count = self.told = 0
        self._quiet = quiet
        self._run = secrets.token_hex(4)
        self._noted: dict[str, int] = {}
        self._asked = (0, 0)
        self._answer: frozenset[str] = frozenset()
        self._listeners: set[asyncio.Event] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._silences = 0
        self._ended = False

    @property
    def mark(self) -> str:
        """This moment."""
        return f"{self._run}-{self.count}"

    @property
    def told_mark(self) -> str:
        """The moment up to which all was told."""
        return f"{self._run}-{self.told}"

    def note(self, kind: str) -> None:
        """Objects of the kind changed. Must be called inside a running loop."""
        self.count += 1
        self._noted[kind] = self.count
        if self._timer is None:
            loop = asyncio.get_running_loop()
            due = max(loop.time() + GATHER_SECONDS, self._last + APART_SECONDS)
            self._timer = loop.call_at(due, self._tell, due)

    def _tell(self, now: float) -> None:
        self._timer, self._last, self.told = None, now, self.count
        self._wake()

    def _wake(self) -> None:
        for each in self._listeners:
            each.set()
        self._wait()

    def _wait(self) -> None:
        """Wakes all listeners by one timer: one for each would be set anew at each change."""
        if self._beat is not None:
            self._beat.cancel()
        self._beat = None
        if self._listeners and not self._ended:
            loop = asyncio.get_running_loop()
            self._beat = loop.call_later(self._quiet, self._say_nothing)

    def _say_nothing(self) -> None:
        if self._timer is None:  # else there is news
            self._silences += 1
            self._wake()

    @property
    def full(self) -> bool:
        """Whether as many listen as may."""
        return len(self._listeners) >= MAX_LISTENERS

    def end(self) -> None:
        """Tells no more: who listens leaves."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._wake()

    def _number(self, mark: str) -> int:
        """How many changes there were at a mark: none, where it is of another run, or no mark."""
        run, _, number = mark.rpartition("-")
        return int(number) if run == self._run and number.isdecimal() else 0

    def _kinds(self, seen: int) -> frozenset[str]:
        """What was told after a change of that number; most who listen have seen the same."""
        asked = (seen, self.told)
        if asked != self._asked:
            noted = self._noted.items()
            self._answer = frozenset(kind for kind, at in noted if seen < at <= self.told)
            self._asked = asked
        return self._answer

    async def since(self, mark: str) -> AsyncGenerator[frozenset[str], None]:
        """The kinds that changed, as they do, until the end; none where it was quiet for long."""
        seen, woken, silences = self._number(mark), asyncio.Event(), self._silences
        self._listeners.add(woken)
        if self._beat is None:
            self._wait()
        try:
            while not self._ended:
                if seen >= self.told:
                    await woken.wait()
                woken.clear()
                kinds, seen = self._kinds(seen), max(seen, self.told)
                if kinds or silences < self._silences:
                    silences = self._silences
                    yield kinds
        finally:
            self._listeners.discard(woken)
