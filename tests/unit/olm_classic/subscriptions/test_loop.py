"""When a namespace is resolved, and what it leaves out."""

from typing import Any

import pytest

from olm_classic.subscriptions.loop import left_out, observed, why_at_rest
from olm_classic.subscriptions.view import Csv, View
from tests.unit.olm_classic.subscriptions.samples import (
    FAIL_FORWARD,
    plan,
    referring,
    subscription,
    view,
)

PENDING = referring(state="UpgradePending", currentCSV="app.v2", installedCSV="app.v1")
AT = {"state": "AtLatestKnown", "currentCSV": "app.v2", "installedCSV": "app.v2"}
OLD = Csv("app.v1", "Replacing")


def upgraded(phase: str) -> tuple[Csv, Csv]:
    return OLD, Csv("app.v2", phase, "app.v1")


def pending(**of: Any) -> View:
    return view(subscription(status=PENDING), plans=(plan(**of),))


@pytest.mark.parametrize(
    ("seen", "rests"),
    [
        (view(), True),
        (view(subscription()), False),
        (pending(), True),
        (pending(phase="Complete"), True),
        (pending(phase="RequiresApproval", approved=True), True),
        (pending(phase="RequiresApproval", approved=False), False),
        (pending(phase="Failed"), False),
        (pending(phase=""), False),
        (view(subscription("new"), subscription(status=PENDING), plans=(plan(),)), True),
        (view(subscription(status=AT), csvs=upgraded("Succeeded")), True),
        (view(subscription(status=AT), csvs=upgraded("Installing")), True),
        (view(subscription(status=AT), csvs=upgraded("Failed")), False),
        (
            view(
                subscription(status=AT | referring()),
                csvs=upgraded(""),
                plans=(plan(phase="Failed"),),
            ),
            False,
        ),
        (view(subscription(status=AT), csvs=upgraded("Succeeded")[1:]), False),
        (view(subscription(status=AT), subscription("b"), csvs=upgraded("Succeeded")), False),
        (
            view(subscription(status=PENDING), subscription("b"), plans=(plan(phase="Complete"),)),
            False,
        ),
        (
            view(
                subscription(status=PENDING),
                subscription("b"),
                plans=(plan(phase="RequiresApproval", approved=False),),
            ),
            False,
        ),
    ],
)
def test_a_namespace_rests_while_nothing_newer_may_come_in_between(seen: View, rests: bool) -> None:
    assert bool(why_at_rest(seen)) is rests


def test_what_a_failed_plan_was_replacing_is_left_out_where_that_is_asked_for() -> None:
    sub = subscription(status=AT | referring())
    csvs = (
        Csv("app.v0", "Replacing"),
        Csv("app.v1", "Replacing", "app.v0"),
        upgraded("Pending")[1],
    )
    failed = (plan(phase="Failed"),)
    forward = (FAIL_FORWARD,)
    assert left_out(view(sub, csvs=csvs, plans=failed, groups=forward)) == {"app.v0", "app.v1"}
    assert left_out(view(sub, csvs=csvs, plans=failed)) == frozenset()
    assert left_out(view(sub, csvs=csvs, plans=(plan(),), groups=forward)) == frozenset()
    well = (OLD, upgraded("Succeeded")[1])
    assert left_out(view(sub, csvs=well, plans=failed, groups=forward)) == frozenset()


def test_without_one_operator_group_states_stay() -> None:
    sub = subscription(status=PENDING)
    seen = view(sub, plans=(plan(),), csvs=upgraded("Succeeded"), groups=())
    assert observed(seen)["app"].state == "UpgradePending"


def test_what_was_observed_is_observed_again() -> None:
    subs = (subscription(status=PENDING), subscription("b", status=AT), subscription("c"))
    seen = view(*subs, plans=(plan(),), csvs=(Csv("app.v2"),))
    for _ in range(2):
        seen = seen.with_statuses(observed(seen))
    assert observed(seen) == {each.metadata.name: each.status for each in seen.subscriptions}
