"""When a ClusterServiceVersion is looked at again, from its status alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from olm_classic.csv.phases import Change, Phase, Reason, changed
from olm_classic.csv.timing import failures, pause_left, seconds_until_look

NOW = datetime(2026, 1, 1, tzinfo=UTC)


FAILED = (Phase.FAILED, Reason.COMPONENT_UNHEALTHY)
TRIED = (Phase.INSTALLING, Reason.INSTALL_SUCCEEDED)
WORKED = (Phase.SUCCEEDED, Reason.INSTALL_SUCCEEDED)


def status_after(*steps: tuple[Phase, Reason]) -> dict[str, Any]:
    """The last step at NOW."""
    status: dict[str, Any] = {}
    for phase, reason in steps:
        status = changed(status, Change(phase, reason, "m"), NOW)
    return status


@pytest.mark.parametrize(
    ("steps", "pause"),
    [
        ([WORKED, FAILED], 0.0),
        ([WORKED, FAILED, TRIED, FAILED], 5.0),
        ([WORKED, FAILED, TRIED, FAILED, TRIED, FAILED], 20.0),
        ([WORKED, *[FAILED, TRIED] * 6, FAILED], 80.0),
        ([FAILED, TRIED, FAILED, WORKED, FAILED], 0.0),
        ([(Phase.FAILED, Reason.INSTALL_CHECK_FAILED)], 5.0),
        ([(Phase.FAILED, Reason.INSTALL_FAILED)], 5.0),
        ([], 0.0),
    ],
)
def test_what_fails_again_and_again_waits_longer(
    steps: list[tuple[Phase, Reason]], pause: float
) -> None:
    status = status_after(*steps)
    assert pause_left(status, NOW) == pause
    assert pause_left(status, NOW + timedelta(seconds=pause)) == 0.0


def test_what_others_change_again_and_again_is_left_alone_for_a_while() -> None:
    repaired = [(Phase.INSTALL_READY, Reason.COMPONENT_UNHEALTHY), TRIED, WORKED]
    assert pause_left(status_after(*repaired * 4), NOW) == 0.0
    often = status_after(*repaired * 5)
    assert pause_left(often, NOW) > 0.0
    assert pause_left(often, NOW + timedelta(minutes=3)) == 0.0


def test_failures_count_since_the_last_success() -> None:
    assert failures(status_after(FAILED, TRIED, FAILED)) == 2
    assert failures(status_after(FAILED, WORKED)) == 0
    assert failures({}) == 0


@pytest.mark.parametrize(
    ("passed", "seconds"), [(0, 2.0), (19, 2.0), (60, 10.0), (295, 5.0), (400, 10.0)]
)
def test_pods_are_looked_at_while_it_is_installed(passed: float, seconds: float) -> None:
    status = status_after(TRIED)
    assert seconds_until_look(status, NOW + timedelta(seconds=passed)) == seconds


def test_what_works_is_looked_at_when_its_certificates_end() -> None:
    status = status_after(WORKED)
    assert seconds_until_look(status, NOW) == 0.0
    status["certsRotateAt"] = (NOW + timedelta(days=1)).isoformat()
    assert seconds_until_look(status, NOW) == 86400.0
    assert seconds_until_look(status, NOW + timedelta(days=2)) == 2.0
