"""Families of metrics for prometheus_client, which writes them. Pure.

Samples are labels and values as they are at the moment; what is gone has no sample any more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, TypeVar

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from olm_runtime.metrics.histogram import Histogram
from olm_runtime.metrics.summary import Summary

Labels = Mapping[str, str]
T = TypeVar("T")
QUANTILES = (0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Family(Generic[T]):
    """A family that has a sample for each thing of a kind; none where `value` is None."""

    make: Callable[[str, str, Iterable[tuple[Labels, Any]]], Metric]
    name: str
    text: str
    value: Callable[[T], Any]


def families_of(table: Iterable[Family[T]], things: Sequence[tuple[Labels, T]]) -> Iterator[Metric]:
    """The families of a table, with samples of these things as they are now."""
    for family in table:
        samples = ((labels, family.value(thing)) for labels, thing in things)
        present = [(labels, value) for labels, value in samples if value is not None]
        yield family.make(family.name, family.text, present)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def written(families: Iterable[Metric]) -> bytes:
    """The families in Prometheus' text format."""
    return generate_latest(_Families(families))


def gauge(name: str, text: str, samples: Iterable[tuple[Labels, float]]) -> Metric:
    """Values that go up and down."""
    return _simple(name, text, "gauge", samples)


def counter(name: str, text: str, samples: Iterable[tuple[Labels, float]]) -> Metric:
    """Counts since the program began; the name ends in `_total`."""
    return _simple(name, text, "counter", samples)


def histogram(name: str, text: str, samples: Iterable[tuple[Labels, Histogram]]) -> Metric:
    """Observations in buckets."""
    family = Metric(name, text, "histogram")
    for labels, observed in samples:
        for bound, count in _buckets(observed):
            family.add_sample(f"{name}_bucket", {**labels, "le": bound}, count)
        family.add_sample(f"{name}_sum", dict(labels), observed.total)
        family.add_sample(f"{name}_count", dict(labels), sum(observed.counts))
    return family


def summary(
    name: str, text: str, samples: Iterable[tuple[Labels, Summary]], *, now: float
) -> Metric:
    """Quantiles of what was observed lately; `now` is on the observations' clock."""
    family = Metric(name, text, "summary")
    for labels, observed in samples:
        for part, value in zip(QUANTILES, observed.quantiles(QUANTILES, now), strict=True):
            family.add_sample(name, {**labels, "quantile": f"{part:g}"}, value)
        family.add_sample(f"{name}_sum", dict(labels), observed.total)
        family.add_sample(f"{name}_count", dict(labels), observed.count)
    return family


def _simple(name: str, text: str, kind: str, samples: Iterable[tuple[Labels, float]]) -> Metric:
    family = Metric(name.removesuffix("_total"), text, kind)
    for labels, value in samples:
        family.add_sample(name, dict(labels), value)
    return family


def _buckets(observed: Histogram) -> Iterator[tuple[str, int]]:
    """Upper bounds, and how many observations are at or below them."""
    bounds = [*(f"{bound:g}" for bound in observed.bounds), "+Inf"]
    return zip(bounds, accumulate(observed.counts), strict=True)
