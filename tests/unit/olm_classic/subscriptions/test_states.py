"""state, currentCSV, installedCSV and the plan of Subscriptions."""

from typing import Any

import pytest

from olm_classic.subscriptions.states import with_adopted, with_state
from olm_classic.subscriptions.view import Csv
from tests.unit.olm_classic.subscriptions.samples import (
    FAIL_FORWARD,
    GROUP,
    plan,
    referring,
    subscription,
    view,
)

PENDING = referring(state="UpgradePending", currentCSV="app.v2", installedCSV="app.v1")
HERE = (Csv("app.v1", "Succeeded"),)
BOTH = (*HERE, Csv("app.v2", "Pending"))


@pytest.mark.parametrize(
    ("status", "others", "state", "current", "installed"),
    [
        ({}, {}, "", "", ""),
        (PENDING, {"plans": (plan(),), "csvs": HERE}, "UpgradePending", "app.v2", "app.v1"),
        (PENDING, {"plans": (plan(),), "csvs": BOTH}, "AtLatestKnown", "app.v2", "app.v2"),
        # The plan is gone: what it was to lead to is forgotten, what is there is not.
        (PENDING, {"csvs": HERE}, "AtLatestKnown", "app.v1", "app.v1"),
        (PENDING, {}, "", "", "app.v1"),
        (PENDING, {"csvs": BOTH}, "AtLatestKnown", "app.v2", "app.v2"),
        (
            PENDING,
            {"plans": (plan(phase="Failed"),), "groups": (GROUP,)},
            "UpgradePending",
            "app.v2",
            "app.v1",
        ),
        (
            PENDING,
            {"plans": (plan(phase="Failed"),), "groups": (FAIL_FORWARD,)},
            "UpgradeFailed",
            "app.v2",
            "app.v1",
        ),
        (
            referring(state="AtLatestKnown", currentCSV="app.v1", installedCSV="app.v1"),
            {"csvs": HERE},
            "AtLatestKnown",
            "app.v1",
            "app.v1",
        ),
    ],
)
def test_the_state_follows_what_is_there(
    status: dict[str, Any], others: dict[str, Any], state: str, current: str, installed: str
) -> None:
    sub = subscription(status=status)
    found = with_state(sub.status, sub, view(sub, **others))
    assert (found.state, found.current_csv, found.installed_csv) == (state, current, installed)


def test_a_plan_that_is_gone_is_referred_to_only_by_what_it_led_to() -> None:
    sub = subscription(status=PENDING)
    lost = with_state(sub.status, sub, view(sub))
    assert (lost.install_plan_ref, lost.install_plan_generation, lost.installplan) == (None,) * 3
    reached = with_state(sub.status, sub, view(sub, csvs=BOTH))
    assert reached.install_plan_ref is not None


def test_a_subscription_that_a_plan_made_follows_that_plan() -> None:
    sub = subscription(startingCSV="app.v1", annotations={"olm.generated-by": "install-1"})
    found = with_state(sub.status, sub, view(sub, plans=(plan(),)))
    assert (found.state, found.current_csv) == ("UpgradePending", "app.v1")
    assert found.install_plan_ref is not None
    assert found.install_plan_ref.name == "install-1"
    assert found.installplan is not None
    assert found.installplan.uuid == "uid-install-1"
    assert found.install_plan_generation == 1
    assert with_state(sub.status, sub, view(sub)).current_csv == ""


def test_what_an_earlier_subscription_left_is_gone_on_from() -> None:
    fresh = with_adopted(subscription().status, "app.v1")
    assert (fresh.state, fresh.current_csv, fresh.installed_csv) == (
        "AtLatestKnown",
        "app.v1",
        "app.v1",
    )
    waiting = with_adopted(subscription(status=PENDING | {"installedCSV": ""}).status, "app.v1")
    assert (waiting.state, waiting.current_csv, waiting.installed_csv) == (
        "UpgradePending",
        "app.v2",
        "app.v1",
    )
