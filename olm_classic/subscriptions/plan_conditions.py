"""What the plan of a Subscription comes to, as its conditions."""

from api.operators.common import ComponentCondition
from api.operators.v1alpha1.installplan import BundleLookup, InstallPlan
from api.operators.v1alpha1.subscription import SubscriptionCondition, SubscriptionStatus
from olm_classic.subscriptions.conditions import (
    INSTALL_PLAN_FAILED,
    INSTALL_PLAN_MISSING,
    INSTALL_PLAN_PENDING,
    TRUE,
    with_condition,
    without_conditions,
)
from olm_classic.subscriptions.view import View

COMPLETE, FAILED, REQUIRES_APPROVAL = "Complete", "Failed", "RequiresApproval"
INSTALLED = "Installed"
NOT_FOUND = "ReferencedInstallPlanNotFound"
NOT_YET_RECONCILED = "InstallPlanNotYetReconciled"
PENDING_LOOKUP = "BundleLookupPending"
ALL = (INSTALL_PLAN_MISSING, INSTALL_PLAN_PENDING, INSTALL_PLAN_FAILED)


def with_plan_conditions(status: SubscriptionStatus, view: View) -> SubscriptionStatus:
    """The status with at most one of InstallPlanMissing, InstallPlanPending, InstallPlanFailed."""
    condition = _condition(view.plan_of(status)) if status.install_plan_ref else None
    present = condition.type if condition else ""
    status = without_conditions(status, *(kind for kind in ALL if kind != present))
    return with_condition(status, condition, view.now) if condition else status


def _condition(plan: InstallPlan | None) -> SubscriptionCondition | None:
    if plan is None:
        return _true(INSTALL_PLAN_MISSING, NOT_FOUND)
    phase, installed = plan.status.phase, _installed(plan)
    if phase == COMPLETE:
        return None
    if phase == FAILED:
        return _true(
            INSTALL_PLAN_FAILED, installed.reason or INSTALL_PLAN_FAILED, installed.message
        )
    pending = filter(None, map(_pending, plan.status.bundle_lookups))
    message = installed.message or "; ".join(pending)
    return _true(INSTALL_PLAN_PENDING, phase or NOT_YET_RECONCILED, message)


def _installed(plan: InstallPlan) -> ComponentCondition:
    found = (each for each in plan.status.conditions if each.type == INSTALLED)
    return next(found, ComponentCondition())


def _pending(lookup: BundleLookup) -> str:
    found = (c.message for c in lookup.conditions if (c.type, c.status) == (PENDING_LOOKUP, TRUE))
    return next(found, "")


def _true(kind: str, reason: str, message: str = "") -> SubscriptionCondition:
    return SubscriptionCondition(type=kind, status=TRUE, reason=reason, message=message)
