"""Who has hurry goes first."""

import pytest

from olm_runtime.controller.priority import LINGER_SECONDS, PASSING_SECONDS, Precedence


def test_nobody_waits_while_nobody_has_hurry() -> None:
    precedence = Precedence()
    precedence.passed(10.0)
    assert precedence.seconds_to_wait(10.0) == 0


def test_those_at_work_are_waited_for_but_one_is_let_pass_from_time_to_time() -> None:
    precedence = Precedence()
    precedence.begin()
    assert precedence.seconds_to_wait(10.0) == 0
    precedence.passed(10.0)
    assert precedence.seconds_to_wait(10.0) == PASSING_SECONDS
    assert precedence.seconds_to_wait(10.0 + PASSING_SECONDS) == 0


def test_the_last_of_them_is_waited_for_and_a_moment_longer() -> None:
    precedence = Precedence()
    precedence.begin()
    precedence.begin()
    precedence.passed(10.0)
    precedence.end(10.0)
    assert precedence.seconds_to_wait(10.0) == PASSING_SECONDS
    precedence.end(10.0)
    assert precedence.seconds_to_wait(10.0) == pytest.approx(LINGER_SECONDS)
    assert precedence.seconds_to_wait(10.0 + LINGER_SECONDS) == 0
