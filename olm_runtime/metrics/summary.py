"""Quantiles of what was observed lately, as client_golang's summaries have them. Pure."""

from collections import deque
from dataclasses import dataclass, field
from math import ceil, nan

WINDOW_SECONDS = 600.0
MAX_VALUES = 1000
"""Of many observations the newest ones speak for the rest."""


@dataclass(slots=True)
class Summary:
    """Count and sum of all observations, and quantiles of those of the last ten minutes."""

    count: int = 0
    total: float = 0.0
    _recent: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=MAX_VALUES))

    def observe(self, value: float, now: float) -> None:
        """Counts a value at `now`, in seconds on any clock that only goes forward."""
        self.count += 1
        self.total += value
        self._recent.append((now, value))

    def quantiles(self, wanted: tuple[float, ...], now: float) -> list[float]:
        """The smallest values that so many parts of the others do not exceed; NaN of none."""
        values = sorted(value for at, value in self._recent if at > now - WINDOW_SECONDS)
        if not values:
            return [nan for _ in wanted]
        return [values[max(ceil(part * len(values)) - 1, 0)] for part in wanted]
