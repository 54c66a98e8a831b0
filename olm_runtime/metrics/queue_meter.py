"""What a work queue counts. Pure: keys and times in seconds in, numbers out."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import assert_never

from olm_runtime.metrics.histogram import Histogram
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds in seconds: a look at what is settled takes milliseconds, a pull minutes."""


class Result(StrEnum):
    """How a handling ended, in controller-runtime's words."""

    SUCCESS = "success"
    REQUEUE_AFTER = "requeue_after"
    ERROR = "error"


@dataclass(slots=True)
class QueueMeter:
    """Counts of one queue since the program began."""

    adds: int = 0
    retries: int = 0
    blocked: int = 0
    results: Counter[Result] = field(default_factory=Counter)
    waited: Histogram = field(default_factory=lambda: Histogram(BOUNDS))
    worked: Histogram = field(default_factory=lambda: Histogram(BOUNDS))
    _queued: dict[Hashable, float] = field(default_factory=dict)
    _running: dict[Hashable, float] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """Keys that wait."""
        return len(self._queued)

    @property
    def active(self) -> int:
        """Keys that are handled now."""
        return len(self._running)

    def added(self, key: Hashable, now: float) -> None:
        """A key that did not wait yet waits from now on."""
        self.adds += 1
        self._queued[key] = now

    def started(self, key: Hashable, now: float) -> None:
        """The handling of a key begins."""
        self.waited.observe(now - self._queued.pop(key, now))
        self._running[key] = now

    def finished(self, key: Hashable, now: float, outcome: Outcome) -> None:
        """It is over."""
        self.worked.observe(now - self._running.pop(key, now))
        match outcome:
            case Done(requeue_after=None):
                self.results[Result.SUCCESS] += 1
            case Done() | Wait():
                self.results[Result.REQUEUE_AFTER] += 1
            case Retry():
                self.results[Result.ERROR] += 1
                self.retries += 1
            case Blocked():
                self.results[Result.ERROR] += 1
                self.blocked += 1
            case _:
                assert_never(outcome)

    def running_seconds(self, now: float) -> list[float]:
        """For how long each key in flight has been handled."""
        return [now - begun for begun in self._running.values()]


@dataclass(frozen=True, slots=True)
class Queue:
    """A work queue and how many prompt keys it handles at a time."""

    meter: QueueMeter
    workers: int
