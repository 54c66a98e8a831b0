"""What catalogd counts. Pure: numbers in, text out elsewhere."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

REQUEST_BUCKETS = (
    *(round(0.1 * n, 1) for n in range(1, 11)),
    1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 10.0,
)  # fmt: skip
"""Upper bounds in seconds, as upstream has them."""


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


@dataclass(slots=True)
class Metrics:
    """All counts of a process."""

    requests: dict[int, Histogram] = field(default_factory=dict)
    """Seconds to answer, by status code."""

    def observe_request(self, status: int, seconds: float) -> None:
        """Counts an answer."""
        if status not in self.requests:
            self.requests[status] = Histogram(REQUEST_BUCKETS)
        self.requests[status].observe(seconds)
