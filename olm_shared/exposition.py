"""Prometheus' text format, and the histograms that are told in it. Pure."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

Labels = Mapping[str, object]


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


def family(name: str, kind: str, text: str) -> Iterator[str]:
    """What comes before the samples of a name; `kind` is counter, gauge or histogram."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, labels: Labels, value: float) -> str:
    """One line; without labels the name alone."""
    written = _written(labels)
    return f"{name}{{{written}}} {value}" if written else f"{name} {value}"


def histogram_samples(name: str, labels: Labels, histogram: Histogram) -> Iterator[str]:
    """The lines of one histogram; its buckets count what is below them too."""
    bounds = [*(f"{bound:g}" for bound in histogram.bounds), "+Inf"]
    running = list(accumulate(histogram.counts))
    for bound, count in zip(bounds, running, strict=True):
        yield sample(f"{name}_bucket", {**labels, "le": bound}, count)
    yield sample(f"{name}_sum", labels, histogram.total)
    yield sample(f"{name}_count", labels, running[-1])


def _written(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
