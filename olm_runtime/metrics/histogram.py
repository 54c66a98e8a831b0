"""Observations by size: what the event loop counts in, without a lock. Pure."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Histogram:
    """Observations by upper bound; the last count is of those above all bounds."""

    bounds: Sequence[float]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        """Starts empty."""
        self.counts = [0] * (len(self.bounds) + 1)

    def observe(self, value: float) -> None:
        """Counts a value; one that equals a bound is within it."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
