"""The InstallPlans of a namespace: the next one, and those that are to go."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

from api.objects import KubeObject
from api.operators import names
from api.operators.v1alpha1.installplan import InstallPlan
from api.operators.v1alpha1.subscription import MANUAL
from olm_classic.names import LABEL_MANAGED
from olm_classic.subscriptions.plan_conditions import COMPLETE, FAILED, REQUIRES_APPROVAL
from olm_classic.subscriptions.view import View

AUTOMATIC = "Automatic"
RETAINED = 5
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def approval(view: View) -> str:
    """Manual where any Subscription asks for it, also one that is up to date."""
    manual = any(each.spec.is_manual for each in view.subscriptions)
    return MANUAL if manual else AUTOMATIC


def next_generation(view: View) -> int:
    """One more than any plan of the namespace has, or any Subscription remembers."""
    known = [each.spec.generation for each in view.plans]
    known += [each.status.install_plan_generation or 0 for each in view.subscriptions]
    return max(known, default=0) + 1


def new_plan(view: View, csvs: Collection[str]) -> KubeObject:
    """The plan that is to be created for these ClusterServiceVersions; it has no steps yet."""
    approve = approval(view)
    return {
        "apiVersion": names.V1ALPHA1,
        "kind": "InstallPlan",
        "metadata": {
            "generateName": "install-",
            "namespace": view.namespace,
            "labels": {LABEL_MANAGED: "true"},
            "ownerReferences": [
                {
                    "apiVersion": names.V1ALPHA1,
                    "kind": "Subscription",
                    "name": each.metadata.name,
                    "uid": each.metadata.uid,
                    "controller": False,
                    "blockOwnerDeletion": False,
                }
                for each in view.subscriptions
            ],
        },
        "spec": {
            "approval": approve,
            "approved": approve == AUTOMATIC,
            "clusterServiceVersionNames": list(csvs),
            "generation": next_generation(view),
        },
    }


def followers(view: View, updated: Mapping[str, str], csvs: Collection[str]) -> dict[str, str]:
    """The Subscriptions that a plan for these CSVs is for, and what it leads each to.

    Those that are updated, and those whose own plan failed and that have their part in this one.
    """
    found = dict(updated)
    for each in view.subscriptions:
        plan, csv = view.plan_of(each.status), each.status.current_csv
        if plan is not None and plan.status.phase == FAILED and csv in csvs:
            found.setdefault(each.metadata.name, csv)
    return found


def is_unfinished(plan: InstallPlan) -> bool:
    """Whether it is one of ours whose steps were not written yet: nothing was done of it."""
    status = plan.status
    written = status.phase or status.plan or status.bundle_lookups
    return plan.is_of_subscriptions and not written


def unfinished(view: View) -> InstallPlan | None:
    """The newest plan that was begun by a look that was cut short."""
    found = [each for each in view.plans if is_unfinished(each)]
    return max(found, key=_age, default=None)


def is_same(plan: InstallPlan, view: View, csvs: Collection[str]) -> bool:
    """Whether a plan is the one that would be created for these ClusterServiceVersions."""
    spec = plan.spec
    return (spec.approval, spec.cluster_service_version_names) == (approval(view), tuple(csvs))


def surplus(view: View) -> tuple[InstallPlan, ...]:
    """The plans that are to go: all but the newest, and those that newer ones take the place of.

    A plan that waits for approval though no Subscription wants it any more would, if approved,
    install next to what a newer plan installs.
    """
    newest_first = sorted(view.plans, key=_age, reverse=True)
    old = [each for each in newest_first[RETAINED:] if each.is_of_subscriptions or _is_over(each)]
    return tuple(old) + tuple(
        each for each in newest_first[:RETAINED] if _is_superseded(each, view)
    )


def _is_superseded(plan: InstallPlan, view: View) -> bool:
    if plan.status.phase != REQUIRES_APPROVAL or plan.spec.approved or not plan.is_of_subscriptions:
        return False
    wanted = [view.plan_of(each.status) for each in view.subscriptions]
    newer = (each for each in view.plans if each.spec.generation > plan.spec.generation)
    return plan not in wanted and any(each.status.phase for each in newer)


def _is_over(plan: InstallPlan) -> bool:
    return plan.status.phase in {COMPLETE, FAILED}


def _age(plan: InstallPlan) -> tuple[int, datetime, str]:
    meta = plan.metadata
    return plan.spec.generation, meta.creation_timestamp or _LONG_AGO, meta.name
