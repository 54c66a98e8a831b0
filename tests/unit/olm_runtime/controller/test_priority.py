"""Keys of low priority wait for the others."""

import pytest

from olm_runtime.controller.priority import LINGER_SECONDS, PASSING_SECONDS, PriorityGate


def test_low_priority_does_not_wait_for_nothing() -> None:
    gate = PriorityGate()
    gate.passed(10.0)
    assert gate.seconds_to_wait(10.0) == 0


def test_those_at_work_are_waited_for_but_one_is_let_pass_from_time_to_time() -> None:
    gate = PriorityGate()
    gate.begin()
    assert gate.seconds_to_wait(10.0) == 0
    gate.passed(10.0)
    assert gate.seconds_to_wait(10.0) == PASSING_SECONDS
    assert gate.seconds_to_wait(10.0 + PASSING_SECONDS) == 0


def test_the_last_of_them_is_waited_for_and_a_moment_longer() -> None:
    gate = PriorityGate()
    gate.begin()
    gate.begin()
    gate.passed(10.0)
    gate.end(10.0)
    assert gate.seconds_to_wait(10.0) == PASSING_SECONDS
    gate.end(10.0)
    assert gate.seconds_to_wait(10.0) == pytest.approx(LINGER_SECONDS)
    assert gate.seconds_to_wait(10.0 + LINGER_SECONDS) == 0
