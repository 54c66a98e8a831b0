"""Counts the changes of kinds of objects, and notifies who has subscribed."""

import asyncio
import secrets
from collections.abc import Callable

GATHER_SECONDS = 0.2
"""Changes that come together are reported together."""

APART_SECONDS = 0.8
"""How far apart changes are reported where there is always one: pages still show each within a
second, and all that show the same are made once."""

CONNECTION = "connection"
"""What is reported like a kind: that the API server went away, or is there again."""

ANY = "*"
"""In place of kinds: any of them."""

OTHER_RUN = -1
"""The number of a mark that this run has not given: what changed since is not known."""

MAX_STREAMS = 1000
"""One serves all tabs of a browser."""


class Changes:
    """What changed.

    `mark` names a moment, from which it can be asked later what has changed since.
    `count` is how many changes there were, and `reported` how many of them were reported.
    `streams` is how many browsers are sent what changed, for whoever sends it; `shown` is set as
    the first of them shows a page.
    """

    def __init__(self) -> None:
        self.count = self.reported = self.streams = 0
        self.ended = False
        self.shown = asyncio.Event()
        self._run = secrets.token_hex(4)
        self._noted: dict[str, int] = {}
        self._subscribers: set[Callable[[], None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0

    @property
    def mark(self) -> str:
        """This moment."""
        return self.mark_of(self.count)

    def mark_of(self, number: int) -> str:
        """The moment after so many changes."""
        return f"{self._run}-{number}"

    def number(self, mark: str) -> int:
        """How many changes there were at a mark; OTHER_RUN for what is no mark of this run."""
        run, _, number = mark.rpartition("-")
        known = run == self._run and number.isascii() and number.isdecimal()
        return int(number) if known else OTHER_RUN

    def note(self, kind: str) -> None:
        """Objects of the kind changed. Must be called inside a running loop."""
        self.count += 1
        self._noted[kind] = self.count
        if self._timer is None and not self.ended:
            loop = asyncio.get_running_loop()
            due = max(loop.time() + GATHER_SECONDS, self._last + APART_SECONDS)
            self._timer = loop.call_at(due, self._notify, due)

    def _notify(self, now: float) -> None:
        self._timer, self._last, self.reported = None, now, self.count
        self._call()

    def _call(self) -> None:
        for each in tuple(self._subscribers):
            each()

    def subscribe(self, subscriber: Callable[[], None]) -> None:
        """Has it called whenever changes are reported, and at the end."""
        self._subscribers.add(subscriber)

    def unsubscribe(self, subscriber: Callable[[], None]) -> None:
        """Has it called no more."""
        self._subscribers.discard(subscriber)

    @property
    def full(self) -> bool:
        """Whether as many streams are open as may."""
        return self.streams >= MAX_STREAMS

    def end(self) -> None:
        """Reports no more changes."""
        self.ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._call()

    def since(self, number: int, kinds: frozenset[str]) -> bool:
        """Whether one of these kinds was reported after so many changes; OTHER_RUN: perhaps."""
        if number == OTHER_RUN:
            return True
        if ANY in kinds:
            return any(number < at <= self.reported for at in self._noted.values())
        return any(number < self._noted.get(each, 0) <= self.reported for each in kinds)
