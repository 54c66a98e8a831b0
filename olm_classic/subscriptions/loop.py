"""What a look at a namespace finds: the statuses of its Subscriptions, and whether to resolve."""

from collections.abc import Mapping

from api.operators.v1alpha1.subscription import Subscription, SubscriptionStatus
from olm_classic.subscriptions.catalog_health import with_catalog_health
from olm_classic.subscriptions.deprecations import with_deprecations
from olm_classic.subscriptions.plan_conditions import (
    COMPLETE,
    FAILED,
    REQUIRES_APPROVAL,
    with_plan_conditions,
)
from olm_classic.subscriptions.plans import unfinished
from olm_classic.subscriptions.states import UPGRADE_PENDING, with_state
from olm_classic.subscriptions.view import Csv, View

Statuses = Mapping[str, SubscriptionStatus]
"""By the name of the Subscription."""

ON_ITS_WAY = frozenset({"", "InstallReady", "Installing", "Succeeded"})
"""Phases of a ClusterServiceVersion that is getting, or got, to work."""


def observed(view: View) -> dict[str, SubscriptionStatus]:
    """The status of every Subscription, as what else there is makes it."""
    return {each.metadata.name: _observed(each, view) for each in view.subscriptions}


def _observed(subscription: Subscription, view: View) -> SubscriptionStatus:
    status = with_catalog_health(subscription.status, subscription, view)
    if len(view.groups) == 1:
        status = with_state(status, subscription, view)
    status = with_plan_conditions(status, view)
    known = view.deprecations.get(subscription.metadata.name)
    return with_deprecations(status, subscription, known, view.now) if known else status


def why_at_rest(view: View) -> str:
    """Why there is nothing to resolve now; the empty string if there is.

    Whatever ends the rest, a change of a plan, of a ClusterServiceVersion, of a catalog or of a
    Subscription, is a reason to look again.
    """
    if not view.subscriptions:
        return "there are no Subscriptions"
    if unfinished(view):
        return ""
    if all(_has_plan_in_progress(each, view) for each in view.subscriptions):
        return "the plan is in progress"
    if any(_is_being_made(each, view) for each in view.subscriptions):
        return "a plan is being carried out"
    if _is_upgrading(view):
        return "a ClusterServiceVersion is being replaced"
    return ""


def _has_plan_in_progress(subscription: Subscription, view: View) -> bool:
    """Whether nothing newer may come in between.

    A plan that failed, or that still waits for approval, gives way to newer content.
    """
    plan = view.plan_of(subscription.status)
    if plan is None or subscription.status.state != UPGRADE_PENDING:
        return False
    waits = plan.status.phase == REQUIRES_APPROVAL and not plan.spec.approved
    return plan.status.phase != FAILED and not waits


def _is_being_made(subscription: Subscription, view: View) -> bool:
    """Whether a plan is about to install what would be chosen anew, and perhaps otherwise."""
    plan = view.plan_of(subscription.status)
    is_carried_out = plan is not None and plan.status.phase != COMPLETE
    return (
        is_carried_out
        and subscription.status.current_csv not in view.csvs
        and _has_plan_in_progress(subscription, view)
    )


def _is_upgrading(view: View) -> bool:
    """Whether all are installed, and what one of them replaces is about to go.

    What is about to go counts as installed still, and no choice could be made next to it.
    """
    if not all(each.status.current_csv in view.csvs for each in view.subscriptions):
        return False
    return any(_is_on_its_way(each, view) for each in view.subscriptions)


def _is_on_its_way(subscription: Subscription, view: View) -> bool:
    csv = view.csvs[subscription.status.current_csv]
    return (
        csv.replaces in view.csvs
        and csv.phase in ON_ITS_WAY
        and not _is_half_made(subscription, view)
    )


def left_out(view: View) -> frozenset[str]:
    """ClusterServiceVersions that do not count as installed: those that failing plans replace.

    With the upgrade strategy that allows it. Upstream leaves out only those whose replacement
    failed itself; one that a plan left half made never gets so far.
    """
    if not view.fails_forward:
        return frozenset()
    broken = [
        view.csvs[each.status.current_csv]
        for each in view.subscriptions
        if each.status.current_csv in view.csvs and _is_half_made(each, view)
    ]
    return frozenset(name for csv in broken for name in _replaced(csv, view))


def _is_half_made(subscription: Subscription, view: View) -> bool:
    plan = view.plan_of(subscription.status)
    csv = view.csvs[subscription.status.current_csv]
    return plan is not None and plan.status.phase == FAILED and csv.phase != "Succeeded"


def _replaced(csv: Csv, view: View) -> set[str]:
    """What it replaces, and what that replaces, as far as it is there."""
    found: set[str] = set()
    while csv.replaces in view.csvs and csv.replaces not in found:
        found.add(csv.replaces)
        csv = view.csvs[csv.replaces]
    return found
