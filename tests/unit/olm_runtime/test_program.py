"""The clock by which programs wait."""

import time

import pytest

from olm_runtime.clocks import steady_clock


def test_waits_neither_stop_nor_end_early_when_the_clock_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = steady_clock()
    first = clock()
    assert abs(first - time.time()) < 60.0
    for step in (-86_400.0, 86_400.0):
        monkeypatch.setattr(time, "time", lambda step=step: first + step)
        assert 0.0 <= clock() - first < 60.0
