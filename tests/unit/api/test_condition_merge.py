"""How new conditions replace old ones, and how long a message may be."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.conditions import (
    MAX_MESSAGE_BYTES,
    TRUNCATION_SUFFIX,
    Condition,
    ConditionStatus,
    bounded_message,
    merge_conditions,
)
from api.olm.v1.conditions import ConditionType, Reason

BEFORE = datetime(2025, 2, 18, 20, 29, tzinfo=UTC)
NOW = datetime(2025, 2, 18, 21, 0, tzinfo=UTC)

INSTALLED = Condition(
    type=ConditionType.INSTALLED,
    status=ConditionStatus.TRUE,
    reason=Reason.SUCCEEDED,
    message="Installed bundle a successfully",
    observed_generation=1,
    last_transition_time=BEFORE,
)
PROGRESSING = Condition(
    type=ConditionType.PROGRESSING,
    status=ConditionStatus.TRUE,
    reason=Reason.SUCCEEDED,
    message="desired state reached",
    observed_generation=1,
    last_transition_time=BEFORE,
)


def progressing(status: ConditionStatus, reason: Reason, message: str = "") -> Condition:
    return Condition(
        type=ConditionType.PROGRESSING,
        status=status,
        reason=reason,
        message=message,
        observed_generation=2,
    )


def test_a_first_condition_begins_now() -> None:
    [merged] = merge_conditions((), [progressing(ConditionStatus.TRUE, Reason.ROLLING_OUT)], NOW)
    assert merged.last_transition_time == NOW
    assert merged.observed_generation == 2


def test_a_flipped_status_moves_the_time() -> None:
    new = progressing(ConditionStatus.FALSE, Reason.BLOCKED, "no")
    [merged] = merge_conditions([PROGRESSING], [new], NOW)
    assert (merged.status, merged.reason, merged.message) == ("False", "Blocked", "no")
    assert merged.last_transition_time == NOW


def test_another_reason_message_or_generation_does_not_move_the_time() -> None:
    new = progressing(ConditionStatus.TRUE, Reason.RETRYING, "again")
    [merged] = merge_conditions([PROGRESSING], [new], NOW)
    assert (merged.reason, merged.message, merged.observed_generation) == ("Retrying", "again", 2)
    assert merged.last_transition_time == BEFORE


def test_an_old_condition_without_a_time_gets_one() -> None:
    old = progressing(ConditionStatus.TRUE, Reason.SUCCEEDED)
    [merged] = merge_conditions([old], [old], NOW)
    assert merged.last_transition_time == NOW


def test_what_was_not_read_stays_as_it_is() -> None:
    new = progressing(ConditionStatus.TRUE, Reason.RETRYING)
    assert merge_conditions([INSTALLED, PROGRESSING], [new], NOW)[1] is INSTALLED


def test_order_is_that_of_the_new_ones_whatever_was_written_first() -> None:
    serving = Condition(type="Serving", status=ConditionStatus.TRUE, reason="Available")
    available = Condition(type="Available", status=ConditionStatus.TRUE, reason="ProbesSucceeded")
    merged = merge_conditions([PROGRESSING, serving], [INSTALLED, PROGRESSING, available], NOW)
    assert [each.type for each in merged] == ["Installed", "Progressing", "Available", "Serving"]


def test_merging_again_changes_nothing() -> None:
    new = [progressing(ConditionStatus.FALSE, Reason.BLOCKED, "x" * (MAX_MESSAGE_BYTES + 1))]
    once = merge_conditions([INSTALLED, PROGRESSING], new, BEFORE)
    assert merge_conditions(once, new, NOW) == once


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("a" * 32768, "a" * 32768, id="just short enough"),
        pytest.param("a" * 32769, "a" * 32743 + TRUNCATION_SUFFIX, id="one byte too long"),
        pytest.param("é" * 16384, "é" * 16384, id="two bytes each, just short enough"),
        pytest.param("é" * 16385, "é" * 16371 + TRUNCATION_SUFFIX, id="cut between characters"),
        pytest.param("file \udcff", "file ?", id="what is no text"),
    ],
)
def test_bounded_message(message: str, expected: str) -> None:
    assert bounded_message(message) == expected
    assert len(expected.encode()) <= MAX_MESSAGE_BYTES


@pytest.mark.property
@given(st.text(min_size=1), st.integers(1, 40_000))
def test_a_bounded_message_is_a_fitting_prefix(text: str, length: int) -> None:
    message = (text * (length // len(text) + 1))[:length]
    bounded = bounded_message(message)
    assert len(bounded.encode()) <= MAX_MESSAGE_BYTES
    assert message.startswith(bounded.removesuffix(TRUNCATION_SUFFIX))


def test_words_are_those_of_the_published_api() -> None:
    """Scripts compare them as strings: a changed word is a broken contract."""
    assert " ".join(sorted(ConditionType)) == (
        "Available BundleDeprecated ChannelDeprecated Deprecated Installed PackageDeprecated"
        " Progressing Refreshed Serving Succeeded"
    )
    assert " ".join(sorted(Reason)) == (
        "Absent Archived Available Blocked Deprecated DeprecationStatusUnknown Failed"
        " InvalidConfiguration Migrated NotDeprecated ProbeFailure ProbesSucceeded"
        " ProgressDeadlineExceeded Reconciling Retrying RollingOut Succeeded Suspended Unavailable"
        " Unchanged Updated UserSpecifiedUnavailable"
    )
