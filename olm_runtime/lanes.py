"""What waits for slots, and which of it is next. Pure; times are those of the caller.

Who came last would wait for all others, however little he asks for, and where one leads to the next
for all others each time. So three take turns:

newest   of the most urgent keys, if it was asked for
oldest   of the most urgent keys
longest  the key that has waited longest, whatever it is: so none waits for more than three times
         as many as were there before it

A key that leads to others gives them its own place, so that what was begun is finished before the
next is begun.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable
from enum import IntEnum
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)

TURNS = 3


class Priority(IntEnum):
    """controller-runtime's numbers: what is listed at a start or a resync is LOW.

    HIGH is what somebody waits for who has nothing yet.
    """

    HIGH = 100
    NORMAL = 0
    LOW = -100


class Place(NamedTuple):
    """How urgent a key is, and since when somebody waits for what it is about.

    `begun`: something was done about it already, and it waits for the rest.
    """

    priority: Priority
    since: float
    begun: bool = False


class _Entry(NamedTuple, Generic[Key]):
    """A key that waits, by its place and the number of its arrival, which no other has."""

    place: Place
    number: int
    key: Key


def by_arrival(_: object) -> None:
    """For keys that all have the place of their arrival."""


class Lane(Generic[Key]):
    """Keys that wait, and the slots that they wait for; `newest_too`: as said above."""

    def __init__(self, slots: int, *, newest_too: bool = True) -> None:
        self.slots = slots
        self.newest_too = newest_too
        self.taken = 0
        self._waiting: dict[Key, _Entry[Key]] = {}
        """In the order of their arrival."""
        self._in_order: list[_Entry[Key]] = []
        """The same by priority and place: the newest of the most urgent is the last."""
        self._arrivals = self._turn = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: Key) -> bool:
        return key in self._waiting

    def add(self, key: Key, place: Place) -> None:
        """Has a key wait; one that waits already may only become more urgent by it."""
        known = self._waiting.get(key)
        if known is None:
            self._arrivals += 1
            self._enter(_Entry(place, self._arrivals, key))
        elif known.place.priority < place.priority:
            self._move(known, place)

    def remove(self, key: Key) -> None:
        """Has a key wait no more. Raises KeyError if it does not."""
        self._take_out(self._waiting.pop(key))

    def pop(self, place: Callable[[Key], Place | None] = by_arrival) -> tuple[Key, Place]:
        """The key whose turn it is, and its place. Raises IndexError if none waits.

        `place` gives that of a key by now. One that became less urgent as it waited goes on waiting
        with those that it equals now, else it would go before what was begun before it.
        """
        entry = self._next()
        while (now := place(entry.key)) and now.priority < entry.place.priority:
            self._move(entry, now)
            entry = self._next()
        self._turn = (self._turn + 1) % TURNS
        self.remove(entry.key)
        return entry.key, entry.place

    def _next(self) -> _Entry[Key]:
        last = self._in_order[-1]
        if self._turn == TURNS - 1:
            return next(iter(self._waiting.values()))
        if self._turn == 0 and self.newest_too:
            return last
        oldest = bisect_left(self._in_order, last.place.priority, key=lambda e: e.place.priority)
        return self._in_order[oldest]

    def _move(self, entry: _Entry[Key], place: Place) -> None:
        self._take_out(entry)
        self._enter(entry._replace(place=place))

    def _enter(self, entry: _Entry[Key]) -> None:
        self._waiting[entry.key] = entry
        insort(self._in_order, entry)

    def _take_out(self, entry: _Entry[Key]) -> None:
        del self._in_order[bisect_left(self._in_order, entry)]
