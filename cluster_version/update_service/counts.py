"""What the service counts of its answers. Pure."""

from collections import Counter
from dataclasses import dataclass, field

from olm_runtime.metrics.histogram import Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds in seconds."""


@dataclass(slots=True)
class Counts:
    """Requests, how long answers took, and refusals by status and kind."""

    requests: int = 0
    seconds: Histogram = field(default_factory=lambda: Histogram(BUCKETS))
    refused: Counter[tuple[int, str]] = field(default_factory=Counter)

    def observe(self, _status: int, seconds: float) -> None:
        """Counts an answer."""
        self.requests += 1
        self.seconds.observe(seconds)


@dataclass(slots=True)
class Looks:
    """How the looks at sources ended, by their names; times in seconds since the epoch."""

    all: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    succeeded_at: dict[str, float] = field(default_factory=dict)
