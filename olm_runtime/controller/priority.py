"""Who has hurry goes first, in all queues that share it.

After a start everything is looked at, hundreds of keys of which nothing is known to have changed.
They take the processor from the one that somebody waits for. So they wait while a key with hurry
is at work, and a moment longer, because one often leads to the next; but some pass all the same.
"""

import math

LINGER_SECONDS = 0.1
PASSING_SECONDS = 0.25
"""While others have hurry, one key without is let pass this often."""


class Precedence:
    """Counts the keys with hurry that are at work. Times are those of the running loop."""

    def __init__(self) -> None:
        """Nobody is at work, nor was."""
        self._at_work = 0
        self._ended = -math.inf
        self._passed = -math.inf

    def begin(self) -> None:
        """A key with hurry is at work."""
        self._at_work += 1

    def end(self, now: float) -> None:
        """It is done, or takes so long that it counts no more."""
        self._at_work -= 1
        self._ended = now

    def passed(self, now: float) -> None:
        """A key without hurry began."""
        self._passed = now

    def seconds_to_wait(self, now: float) -> float:
        """How long a key without hurry is to wait before it asks again; 0: it may begin."""
        calm = math.inf if self._at_work else self._ended + LINGER_SECONDS
        return max(0.0, min(calm, self._passed + PASSING_SECONDS) - now)
