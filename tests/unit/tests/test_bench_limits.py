"""What is made of several runs of a benchmark."""

import pytest

from tests.bench.limits import PARTS, Part, lines, spread


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.1234, 0.2, 0.1], "0.123 (0.1 to 0.2)"),
        ([53.54], "53.5 (53.5 to 53.5)"),
        ([11951.4, 7124.0], "9 538 (7 124 to 11 951)"),
    ],
)
def test_the_median_comes_before_the_lowest_and_the_highest(
    values: list[float], shown: str
) -> None:
    assert spread(values) == shown


def test_a_row_is_of_all_runs_and_of_all_figures_in_each() -> None:
    part = Part("", (), {"seconds": lambda found: found["s"], "late": lambda found: found["late"]})
    runs = [{"s": 1.0, "late": [1.0, 3.0]}, {"s": 2.0, "late": []}]
    assert [line.split() for line in lines(part, runs)] == [
        ["seconds", "1.5", "(1", "to", "2)", "of", "2"],
        ["late", "2", "(1", "to", "3)", "of", "2"],
    ]


def test_a_row_without_figures_says_so() -> None:
    part = Part("", (), {"seconds": lambda found: found["s"], "late": lambda found: found["late"]})
    assert [line.split(maxsplit=1)[1] for line in lines(part, [{"late": []}])] == [
        "not measured",
        "not measured",
    ]


def test_no_row_is_of_two_benchmarks_alike() -> None:
    modules = [(part.module, tuple(part.arguments)) for part in PARTS.values()]
    assert len(set(modules)) == len(modules)
