"""How far an InstallPlan is: its phase, its condition Installed, and what a failure comes to."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from api.objects import KubeObject, name_of, namespace_of
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


def managing_groups(groups: Iterable[KubeObject]) -> list[KubeObject]:
    """The OperatorGroups that are in force: those that say which namespaces they select."""
    return [each for each in groups if (each.get("status") or {}).get("namespaces")]


def account_of(group: KubeObject) -> str:
    """The service account with whose rights objects are written; empty for OLM's own."""
    return (group.get("spec") or {}).get("serviceAccountName") or ""


def group_problem(managing: Sequence[KubeObject]) -> str:
    """Why a namespace with these OperatorGroups installs nothing; empty if it does."""
    if not managing:
        return "no operator group found that is managing this namespace"
    if len(managing) > 1:
        count = len(managing)
        return (
            "attenuated service account query failed - more than one operator group(s) are "
            f"managing this namespace count={count}"
        )
    return ""


def account_missing(group: KubeObject) -> str:
    """The service account that an OperatorGroup names does not exist."""
    where = f"{namespace_of(group)}/{name_of(group)}"
    return (
        f"please make sure the service account exists. sa={account_of(group)} operatorgroup={where}"
    )


def checked(status: InstallPlanStatus, problem: str, now: datetime) -> InstallPlanStatus:
    """The status with what the look at the OperatorGroups found."""
    if problem:
        return with_condition(status, _installed("False", CHECK_FAILED, problem), now)
    before = _condition_of(status, INSTALLED)
    if before is not None and before.reason == CHECK_FAILED:
        return with_condition(status, _installed("False", "Unknown", ""), now)
    return status


def may_be_tried_again(status: InstallPlanStatus) -> bool:
    """Whether other rights of its service account may help a plan that failed."""
    return status.phase == FAILED and status.attenuated_service_account_ref is not None


def depends_on_rights(status: InstallPlanStatus) -> bool:
    """Whether other rights of its service account concern it: it failed, or may be about to."""
    return status.phase != COMPLETE and status.attenuated_service_account_ref is not None


def retried(status: InstallPlanStatus) -> InstallPlanStatus:
    """The status of a failed plan that is tried anew, from the first try on."""
    return replace(status, phase=INSTALLING, message="", start_time=None)


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
    failed = with_condition(status, _installed("False", COMPONENT_FAILED, error), now)
    return replace(failed, phase=FAILED, message=error)


def done(status: InstallPlanStatus, now: datetime) -> InstallPlanStatus:
    """The status once everything is written."""
    status = replace(status, phase=COMPLETE, message="", start_time=status.start_time or now)
    return with_condition(status, _installed("True", "", ""), now)


def _condition_of(status: InstallPlanStatus, kind: str) -> ComponentCondition | None:
    return next((each for each in status.conditions if each.type == kind), None)


def _installed(status: str, reason: str, message: str) -> ComponentCondition:
    return ComponentCondition(type=INSTALLED, status=status, reason=reason, message=message)


def with_condition(
    status: InstallPlanStatus, condition: ComponentCondition, now: datetime
) -> InstallPlanStatus:
    """The status with a condition in the place of the one of its type."""
    before = _condition_of(status, condition.type)
    if before is not None:
        plain = replace(before, last_update_time=None, last_transition_time=None)
        if plain == condition:
            return status
    same = before is not None and before.status == condition.status
    since = before.last_transition_time if before is not None and same else now
    made = replace(condition, last_update_time=now, last_transition_time=since)
    others = tuple(each for each in status.conditions if each.type != condition.type)
    return replace(status, conditions=(*others, made))
