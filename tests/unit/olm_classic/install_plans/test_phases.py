"""The phases of an InstallPlan, and its condition Installed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.operators.v1alpha1.installplan import InstallPlanStatus
from olm_classic.install_plans.phases import (
    begun,
    checked,
    done,
    group_problem,
    managing_groups,
    tried,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=61)
NEW = InstallPlanStatus()
NO_GROUP = "no operator group found that is managing this namespace"


def group(*namespaces: str) -> dict[str, Any]:
    return {"metadata": {"name": "group"}, "status": {"namespaces": list(namespaces)}}


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ((group(""),), ""),
        ((group(""), group()), ""),
        ((), NO_GROUP),
        ((group(),), NO_GROUP),
        (
            (group("a"), group("b")),
            (
                "attenuated service account query failed - more than one operator group(s) are "
                "managing this namespace count=2"
            ),
        ),
    ],
)
def test_groups_count_once_they_have_namespaces(
    groups: tuple[dict[str, Any], ...], problem: str
) -> None:
    assert group_problem(managing_groups(groups)) == problem


def test_a_problem_of_groups_is_reported_and_taken_back() -> None:
    assert checked(NEW, "", NOW) == NEW
    blocked = checked(NEW, NO_GROUP, NOW)
    (said,) = blocked.conditions
    assert (said.status, said.reason, said.message) == ("False", "InstallCheckFailed", NO_GROUP)
    assert checked(blocked, NO_GROUP, LATER) == blocked
    (after,) = checked(blocked, "", LATER).conditions
    assert (after.status, after.reason, after.message) == ("False", "Unknown", "")
    assert (after.last_transition_time, after.last_update_time) == (NOW, LATER)


def test_approval_decides_the_phase() -> None:
    assert begun(NEW, approved=True).phase == "Installing"
    assert begun(NEW, approved=False).phase == "RequiresApproval"


def test_what_fails_is_tried_for_a_while() -> None:
    began = tried(begun(NEW, approved=True), "boom", NOW, forbidden=False, seconds=60)
    assert (began.phase, began.message) == (
        "Installing",
        "retrying execution due to error: boom",
    )
    assert tried(began, "boom", LATER, forbidden=True, seconds=60).phase == "Installing"
    failed = tried(began, "boom", LATER, forbidden=False, seconds=60)
    assert (failed.phase, failed.message) == ("Failed", "boom")
    (said,) = failed.conditions
    assert (said.status, said.reason) == ("False", "InstallComponentFailed")


def test_a_plan_is_complete_when_all_is_written() -> None:
    tries = tried(begun(NEW, approved=True), "boom", NOW, forbidden=False, seconds=60)
    complete = done(tries, LATER)
    (said,) = complete.conditions
    assert (complete.phase, complete.message, complete.start_time) == ("Complete", "", NOW)
    assert (said.type, said.status, said.reason, said.message) == ("Installed", "True", "", "")
