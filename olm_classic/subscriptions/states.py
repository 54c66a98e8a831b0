"""How far a Subscription is: its state, the ClusterServiceVersions and the plan that it names."""

from msgspec.structs import replace

from api.operators import names
from api.operators.common import ObjectReference
from api.operators.v1alpha1.installplan import InstallPlan
from api.operators.v1alpha1.subscription import (
    InstallPlanReference,
    Subscription,
    SubscriptionStatus,
)
from olm_classic.names import ANNOTATION_GENERATED_BY
from olm_classic.subscriptions.plan_conditions import FAILED
from olm_classic.subscriptions.view import View

AT_LATEST = "AtLatestKnown"
UPGRADE_PENDING = "UpgradePending"
UPGRADE_FAILED = "UpgradeFailed"


def with_state(
    status: SubscriptionStatus, subscription: Subscription, view: View
) -> SubscriptionStatus:
    """The status as the ClusterServiceVersions and plans of the namespace have it."""
    status = _without_lost_plan(status, view)
    status = _with_generating_plan(status, subscription, view)
    if not status.current_csv and status.installed_csv in view.csvs:
        status = replace(status, current_csv=status.installed_csv)
    if not status.current_csv:
        return replace(status, state="")
    if status.current_csv in view.csvs:
        return replace(status, state=AT_LATEST, installed_csv=status.current_csv)
    plan = view.plan_of(status)
    failed = plan is not None and plan.status.phase == FAILED
    return replace(
        status, state=UPGRADE_FAILED if failed and view.fails_forward else UPGRADE_PENDING
    )


def with_plan(status: SubscriptionStatus, plan: InstallPlan, csv: str) -> SubscriptionStatus:
    """The status of a Subscription that a plan leads to a ClusterServiceVersion."""
    meta = plan.metadata
    return replace(
        status,
        state=UPGRADE_PENDING,
        current_csv=csv,
        install_plan_generation=plan.spec.generation or None,
        installplan=InstallPlanReference(
            api_version=names.V1ALPHA1, kind="InstallPlan", name=meta.name, uuid=meta.uid
        ),
        install_plan_ref=ObjectReference(
            api_version=names.V1ALPHA1,
            kind="InstallPlan",
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            resource_version=meta.resource_version,
        ),
    )


def _without_lost_plan(status: SubscriptionStatus, view: View) -> SubscriptionStatus:
    """Has an upgrade begin again whose plan somebody deleted."""
    waits = status.state in {UPGRADE_PENDING, UPGRADE_FAILED}
    lost = status.install_plan_ref is not None and view.plan_of(status) is None
    if not (waits and lost) or status.current_csv in view.csvs:
        return status
    return replace(
        status,
        state="",
        current_csv="",
        install_plan_ref=None,
        install_plan_generation=None,
        installplan=None,
    )


def _with_generating_plan(
    status: SubscriptionStatus, subscription: Subscription, view: View
) -> SubscriptionStatus:
    """A Subscription that a plan made follows that plan."""
    by = subscription.metadata.annotations.get(ANNOTATION_GENERATED_BY)
    if status.install_plan_ref is not None or not by:
        return status
    plan = next((each for each in view.plans if each.metadata.name == by), None)
    return with_plan(status, plan, subscription.spec.starting_csv) if plan else status


def with_adopted(status: SubscriptionStatus, csv: str) -> SubscriptionStatus:
    """The status of a Subscription that goes on from what an earlier one left installed."""
    current = status.current_csv or csv
    state = AT_LATEST if current == csv else status.state
    return replace(status, installed_csv=csv, current_csv=current, state=state)
