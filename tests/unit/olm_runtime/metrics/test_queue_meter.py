"""What a queue counts, and how numbers are written down."""

import pytest

from olm_runtime.metrics.exposition import gauge, histogram, written
from olm_runtime.metrics.histogram import Histogram
from olm_runtime.metrics.queue_meter import QueueMeter, Result
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait


@pytest.mark.parametrize(
    ("outcome", "result", "retries", "blocked"),
    [
        (Done(), Result.SUCCESS, 0, 0),
        (Done(requeue_after=5), Result.REQUEUE_AFTER, 0, 0),
        (Wait(1), Result.REQUEUE_AFTER, 0, 0),
        (Retry("no"), Result.ERROR, 1, 0),
        (Blocked("Blocked", "no"), Result.ERROR, 0, 1),
    ],
)
def test_every_outcome_is_one_result(
    outcome: Outcome, result: Result, retries: int, blocked: int
) -> None:
    meter = QueueMeter()
    meter.added("a", 1.0)
    meter.started("a", 1.5)
    meter.finished("a", 4.0, outcome)
    assert dict(meter.results) == {result: 1}
    assert (meter.adds, meter.retries, meter.blocked) == (1, retries, blocked)
    assert (meter.waited.total, meter.worked.total) == (0.5, 2.5)


def test_a_key_waits_or_runs_or_is_forgotten() -> None:
    meter = QueueMeter()
    meter.added("a", 0.0)
    meter.added("b", 0.0)
    assert (meter.depth, meter.active) == (2, 0)
    meter.started("a", 1.0)
    assert (meter.depth, meter.active, meter.running_seconds(3.0)) == (1, 1, [2.0])
    meter.finished("a", 4.0, Done())
    assert (meter.depth, meter.active, meter.running_seconds(9.0)) == (1, 0, [])


def test_buckets_hold_what_is_below_them_too() -> None:
    observed = Histogram((0.1, 1.0))
    for value in (0.1, 0.5, 7.0):
        observed.observe(value)
    assert written([histogram("h", "text", [({"a": "b"}, observed)])]).decode().splitlines() == [
        "# HELP h text",
        "# TYPE h histogram",
        'h_bucket{a="b",le="0.1"} 1.0',
        'h_bucket{a="b",le="1"} 2.0',
        'h_bucket{a="b",le="+Inf"} 3.0',
        'h_sum{a="b"} 7.6',
        'h_count{a="b"} 3.0',
    ]


def test_values_of_labels_are_escaped() -> None:
    text = written([gauge("m", "text", [({"l": 'a"b\\c\nd'}, 1), ({}, 2.5)])]).decode()
    assert text.splitlines()[2:] == ['m{l="a\\"b\\\\c\\nd"} 1.0', "m 2.5"]
