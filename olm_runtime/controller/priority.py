"""Keys of low priority wait for the others, in all queues that share a gate.

After a start every object is reconciled, hundreds of keys of which nothing is known to have
changed. They take the processor from the one that somebody waits for. So they wait while a key of
normal priority is handled, and a moment longer, because one often leads to the next; but some pass
all the same.
"""

import math

LINGER_SECONDS = 0.1
PASSING_SECONDS = 0.25
"""While keys of normal priority are handled, one of low priority passes this often."""


class PriorityGate:
    """Counts the keys of normal priority in flight. Times are those of the running loop."""

    def __init__(self) -> None:
        """Nothing is in flight, nor was."""
        self._in_flight = 0
        self._ended = -math.inf
        self._passed = -math.inf

    def begin(self) -> None:
        """A key of normal priority is handled."""
        self._in_flight += 1

    def end(self, now: float) -> None:
        """It is done, or takes so long that it counts no more."""
        self._in_flight -= 1
        self._ended = now

    def passed(self, now: float) -> None:
        """A key of low priority began."""
        self._passed = now

    def seconds_to_wait(self, now: float) -> float:
        """How long a key of low priority is to wait before it asks again; 0: it may begin."""
        calm = math.inf if self._in_flight else self._ended + LINGER_SECONDS
        return max(0.0, min(calm, self._passed + PASSING_SECONDS) - now)
