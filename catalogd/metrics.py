"""What catalogd counts. Pure: numbers in, text out elsewhere."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum

from olm_runtime.metrics.histogram import Histogram

REQUEST_BUCKETS = (
    *(round(0.1 * n, 1) for n in range(1, 11)),
    1.2, 1.6, 2.0, 2.4, 2.8, 3.2, 3.6, 4.0, 10.0,
)  # fmt: skip
"""Upper bounds in seconds, as upstream has them."""


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
