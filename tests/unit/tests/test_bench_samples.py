"""Rules over what is measured again and again."""

import pytest

from tests.bench.samples import Sample, alarms, growth, slope

STEP, MINUTES = 5.0, 20


def samples(
    *, memory: float = 50e6, grows: float = 0.0, cpu: float = 0.01, panics: int = 0, killed: int = 0
) -> list[Sample]:
    """Twenty minutes; `grows` in bytes and `cpu` in seconds of a core, each second."""
    return [
        Sample(
            at=at,
            memory=memory + grows * at,
            cpu=cpu * at,
            descriptors=1,
            threads=1,
            panics=panics,
            killed=killed,
        )
        for at in (STEP * number for number in range(int(MINUTES * 60 / STEP)))
    ]


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        pytest.param(samples(), [], id="all is well"),
        pytest.param(samples(grows=10_000), [], id="a growth that upstream takes"),
        pytest.param(samples(memory=0, grows=210_000), ["catalogd-memory-growth",
                     "catalogd-memory-usage"], id="growth"),
        pytest.param(samples(memory=76e6), ["catalogd-memory-usage"], id="too much memory"),
        pytest.param(samples(cpu=0.25), ["catalogd-cpu-usage"], id="too much of a core"),
        pytest.param(samples(panics=1), ["reconciler-panic"], id="a panic"),
        pytest.param(samples(killed=1), ["oom-events"], id="an end for lack of memory"),
    ],
)  # fmt: skip
def test_rules(measured: list[Sample], expected: list[str]) -> None:
    assert alarms("catalogd", measured) == expected


def test_what_lasts_less_than_five_minutes_is_no_alarm() -> None:
    high = [s for s in samples(memory=90e6) if s.at < 290]
    assert alarms("catalogd", high + [s for s in samples() if s.at >= 290]) == []


def test_a_slope_is_that_of_the_line_through_the_points() -> None:
    assert slope([(0, 1), (2, 5), (1, 3)]) == pytest.approx(2)


def test_growth_leaves_the_first_quarter_out() -> None:
    warm, steady = samples(memory=0, grows=100_000), samples(memory=1e9, grows=30)
    cut = MINUTES * 60 / 4
    measured = [w if w.at < cut else s for w, s in zip(warm, steady, strict=True)]
    assert growth(measured) == pytest.approx(30)
