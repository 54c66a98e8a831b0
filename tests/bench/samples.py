"""What is measured again and again while programs run, and what follows from it. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

WINDOW_SECONDS = 300.0
"""Over which the rules take rates, and for how long what they say has to hold."""
GROWTH, LARGEST, BUSY = 200_000.0, {"operator-controller": 150e6, "catalogd": 75e6}, 0.2
"""Bytes a second, bytes and share of a core above which upstream's rules fire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A program at a moment, in seconds; `cpu` since its start, memory and files in bytes."""

    at: float
    memory: float
    cpu: float
    descriptors: int
    threads: int
    panics: int = 0
    killed: int = 0


Value = Callable[[Sample], float]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """By least squares: how much y grows while x grows by one."""
    if len(points) < 2:
        return 0.0
    x_mean = sum(x for x, _ in points) / len(points)
    y_mean = sum(y for _, y in points) / len(points)
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / spread if spread else 0.0


def growth(samples: Sequence[Sample]) -> float:
    """Bytes of memory that are added each second after the first quarter."""
    after = samples[0].at + (samples[-1].at - samples[0].at) / 4
    return slope([(each.at, each.memory) for each in samples if each.at >= after])


def alarms(program: str, samples: Sequence[Sample]) -> list[str]:
    """Which of upstream's rules fire for a program, sorted."""
    rules: dict[str, Callable[[int], bool]] = {
        f"{program}-memory-growth": lambda i: _rate(_window(samples, i), _memory) > GROWTH,
        f"{program}-memory-usage": lambda i: samples[i].memory > LARGEST[program],
        f"{program}-cpu-usage": lambda i: _increase(_window(samples, i)) > BUSY,
    }
    found = {name for name, holds in rules.items() if _holds_long(samples, holds)}
    if any(each.panics for each in samples):
        found.add("reconciler-panic")
    if any(each.killed for each in samples):
        found.add("oom-events")
    return sorted(found)


def _memory(sample: Sample) -> float:
    return sample.memory


def _window(samples: Sequence[Sample], last: int) -> list[Sample]:
    since = samples[last].at - WINDOW_SECONDS
    return [each for each in samples[: last + 1] if each.at >= since]


def _rate(window: Sequence[Sample], value: Value) -> float:
    return slope([(each.at, value(each)) for each in window])


def _increase(window: Sequence[Sample]) -> float:
    """Of processor time in a second; a program that was started again begins at nothing."""
    seconds = window[-1].at - window[0].at
    used = sum(max(0.0, b.cpu - a.cpu) for a, b in pairwise(window))
    return used / seconds if seconds else 0.0


def _holds_long(samples: Sequence[Sample], holds: Callable[[int], bool]) -> bool:
    """Whether it holds at all samples of so long a time."""
    return any(last - first >= WINDOW_SECONDS for first, last in _stretches(samples, holds))


def _stretches(
    samples: Sequence[Sample], holds: Callable[[int], bool]
) -> Iterator[tuple[float, float]]:
    begun: float | None = None
    for number, each in enumerate(samples):
        if not holds(number):
            begun = None
            continue
        begun = each.at if begun is None else begun
        yield begun, each.at
