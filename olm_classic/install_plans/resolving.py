"""InstallPlans that users make: names of ClusterServiceVersions, for which steps are to be found.

Documents of OLM 4.3, 2.1.4.2; the words are the constants of the API.
"""

from datetime import datetime

from msgspec.structs import replace

from api.operators.common import ComponentCondition
from api.operators.v1alpha1.installplan import InstallPlan, InstallPlanStatus
from olm_classic.install_plans.phases import is_resolved, with_condition

PLANNING, RESOLVED = "Planning", "Resolved"
DEPENDENCIES_CONFLICT = "DependenciesConflict"
AUTOMATIC = "Automatic"


def is_to_be_resolved(plan: InstallPlan) -> bool:
    """Whether a user made it, and what it takes was not found yet."""
    return (
        not plan.is_of_subscriptions
        and not is_resolved(plan)
        and plan.status.phase in {"", PLANNING}
        and bool(plan.spec.cluster_service_version_names)
    )


def is_to_be_approved(plan: InstallPlan) -> bool:
    """Whether nobody has to approve it, and it does not say so yet."""
    return plan.spec.approval == AUTOMATIC and not plan.spec.approved


def planning(status: InstallPlanStatus, message: str = "") -> InstallPlanStatus:
    """The status while bundles are unpacked, or catalogs are awaited."""
    return replace(status, phase=PLANNING, message=message)


def unresolved(
    status: InstallPlanStatus, reason: str, message: str, now: datetime
) -> InstallPlanStatus:
    """The status while its steps cannot be found."""
    said = ComponentCondition(type=RESOLVED, status="False", reason=reason, message=message)
    return with_condition(planning(status, message), said, now)


def resolved(status: InstallPlanStatus, now: datetime) -> InstallPlanStatus:
    """The status once they are."""
    said = ComponentCondition(type=RESOLVED, status="True")
    return with_condition(replace(status, message=""), said, now)
