"""How often somebody may try to sign in."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

WINDOW_SECONDS = 60.0
EACH, ALL = 10, 300
"""Attempts within the window, of one address and of all."""


@dataclass(slots=True)
class Attempts:
    """Those of the last minute. There are never more than ALL of them to look through."""

    now: Callable[[], float] = time.monotonic
    _made: deque[tuple[float, str]] = field(default_factory=deque)

    def allow(self, address: str) -> bool:
        """Whether one more is taken, which then counts."""
        now = self.now()
        while self._made and now - self._made[0][0] > WINDOW_SECONDS:
            self._made.popleft()
        own = sum(each == address for _, each in self._made)
        if own >= EACH or len(self._made) >= ALL:
            return False
        self._made.append((now, address))
        return True
