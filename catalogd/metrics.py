"""What catalogd counts. Pure: numbers in, text out elsewhere."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum

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


class PollResult(Enum):
    """What came of asking a registry."""

    UNCHANGED = "unchanged"
    UPDATED = "updated"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Served:
    """A catalog that is served: bytes as they are without compression, seconds since the epoch."""

    name: str
    size: int
    blobs: int
    unpacked: int


@dataclass(slots=True)
class CatalogCounts:
    """Of one catalog: polls by result, and how many seconds the last unpack took."""

    polls: Counter[PollResult] = field(default_factory=Counter)
    unpack_seconds: float | None = None


@dataclass(slots=True)
class Metrics:
    """All counts of a process."""

    requests: dict[int, Histogram] = field(default_factory=dict)
    """Seconds to answer, by status code."""

    catalogs: dict[str, CatalogCounts] = field(default_factory=dict)

    def observe_poll(self, catalog: str, result: PollResult, seconds: float) -> None:
        """Counts that a registry was asked; `seconds` until the content was on disk."""
        counts = self.catalogs.setdefault(catalog, CatalogCounts())
        counts.polls[result] += 1
        if result is PollResult.UPDATED:
            counts.unpack_seconds = seconds

    def keep(self, catalogs: Collection[str]) -> None:
        """Forgets the catalogs that do not exist any more."""
        for gone in self.catalogs.keys() - set(catalogs):
            del self.catalogs[gone]

    def observe_request(self, status: int, seconds: float) -> None:
        """Counts an answer."""
        if status not in self.requests:
            self.requests[status] = Histogram(REQUEST_BUCKETS)
        self.requests[status].observe(seconds)
