"""InstallPlanMissing, InstallPlanPending and InstallPlanFailed of Subscriptions."""

from typing import Any

import pytest

from api.operators.v1alpha1.installplan import InstallPlan
from olm_classic.subscriptions.plan_conditions import with_plan_conditions
from tests.unit.olm_classic.subscriptions.samples import plan, referring, subscription, view


def installed(reason: str = "", message: str = "") -> dict[str, Any]:
    condition = {"type": "Installed", "status": "False", "reason": reason, "message": message}
    return {"conditions": [condition]}


def lookup(message: str, kind: str = "BundleLookupPending") -> dict[str, Any]:
    said = [{"type": kind, "status": "True", "message": message}]
    named = {"path": "image", "identifier": "app.v1", "replaces": "", "catalogSourceRef": {}}
    return named | {"conditions": said}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (plan(phase="Complete"), None),
        (None, ("InstallPlanMissing", "ReferencedInstallPlanNotFound", "")),
        (plan(phase=""), ("InstallPlanPending", "InstallPlanNotYetReconciled", "")),
        (plan(phase="RequiresApproval"), ("InstallPlanPending", "RequiresApproval", "")),
        (
            plan(phase="Installing", **installed("InstallCheckFailed", "no group")),
            ("InstallPlanPending", "Installing", "no group"),
        ),
        (
            plan(bundleLookups=[lookup("a"), lookup("-", "Other"), lookup("b")]),
            ("InstallPlanPending", "Installing", "a; b"),
        ),
        (plan(phase="Failed"), ("InstallPlanFailed", "InstallPlanFailed", "")),
        (
            plan(phase="Failed", **installed("InstallComponentFailed", "boom")),
            ("InstallPlanFailed", "InstallComponentFailed", "boom"),
        ),
    ],
)
def test_the_plan_is_shown_by_one_condition_at_most(
    found: InstallPlan | None, said: tuple[str, str, str] | None
) -> None:
    sub = subscription(status=referring())
    status = sub.status
    for earlier in (plan(phase="Failed"), plan()):
        status = with_plan_conditions(status, view(sub, plans=(earlier,)))
    after = with_plan_conditions(status, view(sub, plans=(found,) if found else ()))
    assert [(each.type, each.reason, each.message) for each in after.conditions] == [said][
        : bool(said)
    ]
    assert all(each.status == "True" for each in after.conditions)


def test_without_a_plan_there_is_nothing_to_report() -> None:
    sub = subscription()
    assert with_plan_conditions(sub.status, view(sub)).conditions == ()
