"""How far an InstallPlan is: its phase, its condition Installed, and what a failure comes to."""

from dataclasses import replace
from datetime import datetime, timedelta

from api.objects import KubeObject
from api.operators.common import ComponentCondition
from api.operators.v1alpha1.installplan import InstallPlan, InstallPlanStatus

INSTALLING, COMPLETE, FAILED = "Installing", "Complete", "Failed"
REQUIRES_APPROVAL = "RequiresApproval"
INSTALLED = "Installed"
CHECK_FAILED = "InstallCheckFailed"
COMPONENT_FAILED = "InstallComponentFailed"
CREATED, PRESENT, WAITING_FOR_API = "Created", "Present", "WaitingForApi"


def is_over(plan: InstallPlan) -> bool:
    """Whether nothing more is done of it."""
    return plan.status.phase in {COMPLETE, FAILED}


def is_resolved(plan: InstallPlan) -> bool:
    """Whether its steps are known."""
    return bool(plan.status.plan or plan.status.bundle_lookups)


def group_problem(groups: tuple[KubeObject, ...]) -> str:
    """Why a namespace with these OperatorGroups installs nothing; empty if it does."""
    managing = [each for each in groups if (each.get("status") or {}).get("namespaces")]
    if not managing:
        return "no operator group found that is managing this namespace"
    if len(managing) > 1:
        count = len(managing)
        return f"more than one operator group(s) are managing this namespace count={count}"
    return ""


def checked(status: InstallPlanStatus, problem: str, now: datetime) -> InstallPlanStatus:
    """The status with what the look at the OperatorGroups found."""
    if problem:
        return _with(status, _installed("False", CHECK_FAILED, problem), now)
    before = next(iter(status.conditions), None)
    if before is not None and before.reason == CHECK_FAILED:
        return _with(status, _installed("False", "Unknown", ""), now)
    return status


def begun(status: InstallPlanStatus, *, approved: bool) -> InstallPlanStatus:
    """The status in the phase that the approval allows."""
    return replace(status, phase=INSTALLING if approved else REQUIRES_APPROVAL)


def tried(
    status: InstallPlanStatus, error: str, now: datetime, *, forbidden: bool, seconds: float
) -> InstallPlanStatus:
    """The status after a try that failed: tried again for so many seconds, then Failed."""
    started = status.start_time or now
    status = replace(status, start_time=started)
    if forbidden or now - started < timedelta(seconds=seconds):
        return replace(status, message=f"retrying execution due to error: {error}")
    failed = _with(status, _installed("False", COMPONENT_FAILED, error), now)
    return replace(failed, phase=FAILED, message=error)


def done(status: InstallPlanStatus, now: datetime) -> InstallPlanStatus:
    """The status once everything is written."""
    status = replace(status, phase=COMPLETE, message="", start_time=status.start_time or now)
    return _with(status, _installed("True", "", ""), now)


def _installed(status: str, reason: str, message: str) -> ComponentCondition:
    return ComponentCondition(type=INSTALLED, status=status, reason=reason, message=message)


def _with(
    status: InstallPlanStatus, condition: ComponentCondition, now: datetime
) -> InstallPlanStatus:
    before = next((each for each in status.conditions if each.type == INSTALLED), None)
    if before is not None:
        plain = replace(before, last_update_time=None, last_transition_time=None)
        if plain == condition:
            return status
    same = before is not None and before.status == condition.status
    since = before.last_transition_time if before is not None and same else now
    made = replace(condition, last_update_time=now, last_transition_time=since)
    others = tuple(each for each in status.conditions if each.type != INSTALLED)
    return replace(status, conditions=(*others, made))
