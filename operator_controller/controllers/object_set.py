"""The controller of ClusterObjectSets: when one is reconciled again, and its status."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from api import wire
from api.conditions import ConditionStatus, merge_conditions
from api.objects import KubeObject, condition, labels_of, metadata
from api.olm.v1 import names
from api.olm.v1.conditions import ConditionType
from api.olm.v1.kinds import OBJECT_SET
from olm_rollout.progress import Progress
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.reconciler import Controller, Finalized, Reconciler, Status
from olm_runtime.controller.requests import Request
from olm_runtime.controller.status_writer import readable_conditions
from olm_runtime.outcome import Done, Failed, Outcome, Retry, Wait
from operator_controller.apply.revisions import Revision, deadline_minutes, parse_revision
from operator_controller.controllers.object_changes import ObjectChanges
from operator_controller.controllers.object_set_steps import ObjectSetSteps
from operator_controller.controllers.revision_context import RevisionContext
from operator_controller.status.object_set import RevisionFacts, revision_conditions

ROLLOUT_POLL_SECONDS = 2.0
DEGRADED_POLL_SECONDS = 30.0
UNHEALTHY_POLL_SECONDS = 5.0
UNHEALTHY_LOOKED_AT_SECONDS = 600.0
"""Later it is left to the resync, every ten minutes."""


def object_set_controller(steps: ObjectSetSteps) -> Controller[RevisionContext]:
    """The controller that the steps make."""

    async def conclude(context: RevisionContext, outcome: Outcome) -> Outcome:
        revision = context.revision
        if isinstance(outcome, Done) and not context.removed:
            due, progress = steps.certificates.seconds_until_due(revision.name), context.progress
            if context.suspension is not None:  # whatever it waited for, it does no more
                due, progress = None, replace(progress, complete=True)
            outcome = next_look(progress, due, unhealthy_for(revision, steps.clock()))
        if outcome == Done():
            steps.store.release(revision.raw)
        return by_deadline(outcome, steps.seconds_left(revision))

    def status(context: RevisionContext, outcome: Outcome, now: datetime) -> Status:
        left = None if context.leaving else steps.seconds_left(context.revision)
        return status_of(context, outcome, now, overdue=left is not None and left <= 0)

    async def finalize(obj: KubeObject, now: datetime) -> Finalized:
        revision = parse_revision(obj)
        outcome = await attempt(steps.remove(revision), f"ClusterObjectSet {revision.name}")
        if isinstance(outcome, Done) or (isinstance(outcome, Wait) and not outcome.message):
            return Finalized(outcome)
        context = RevisionContext(revision, leaving=True)
        return Finalized(outcome, status_of(context, outcome, now, overdue=False))

    return Controller(
        kind=OBJECT_SET,
        finalizers=(names.FINALIZER_TEARDOWN,),
        prepare=lambda _: {},  # a set that owns its objects gets it before it owns any
        begin=steps.begin,
        steps=steps.in_order(),
        conclude=conclude,
        status=status,
        afterwards=(steps.archive_older, steps.write_record),
        finalize=finalize,
        gone=steps.forget,
        attributes=_attributes,
    )


def _attributes(context: RevisionContext) -> Mapping[str, str]:
    revision = context.revision
    owner = labels_of(revision.raw).get(names.LABEL_OWNER_NAME, "")
    return {
        "olm.extension": owner,
        "olm.bundle": revision.bundle.name,
        "olm.version": revision.bundle.version,
        "olm.revision": revision.name,
    }


class ObjectSetReconciler:
    """Reconciles ClusterObjectSets; changes of their objects meanwhile are judged afterwards."""

    def __init__(self, reconciler: Reconciler, changes: ObjectChanges) -> None:
        self._reconciler = reconciler
        self._changes = changes

    async def reconcile(self, name: Request) -> Outcome:
        """One reconcile. Raises OLMError."""
        with self._changes.deferred(name):
            return await self._reconciler.reconcile(name)

    async def report_failure(self, name: Request, failed: Failed) -> None:
        """Writes a status after a reconcile that raised."""
        await self._reconciler.report_failure(name, failed)


def status_of(
    context: RevisionContext, outcome: Outcome, now: datetime, *, overdue: bool
) -> Status:
    """The status of a set; `overdue`: its deadline has passed."""
    revision = context.revision
    status: dict[str, Any] = dict(revision.raw.get("status") or {})
    facts = RevisionFacts(
        version=revision.bundle.version or str(revision.number),
        generation=int(metadata(revision.raw).get("generation") or 0),
        archived=revision.archived,
        progress=context.progress,
        outcome=outcome,
        succeeded_before=revision.succeeded,
        leaving=context.leaving,
        suspended=context.suspension.text if context.suspension else "",
        overdue_minutes=deadline_minutes(revision) if overdue else None,
    )
    merged = merge_conditions(readable_conditions(status), revision_conditions(facts), now)
    status["conditions"] = [wire.write(condition) for condition in merged]
    if context.observed and not status.get("observedPhases"):
        status["observedPhases"] = context.observed
    return status


def unhealthy_for(revision: Revision, now: datetime) -> float:
    """Seconds since its objects were found not to work; 0 where they did, or it is new."""
    found = condition(revision.raw, ConditionType.AVAILABLE)
    if found is None or found["status"] != ConditionStatus.FALSE:
        return 0.0
    since: timedelta = now - datetime.fromisoformat(found["lastTransitionTime"])
    return max(0.0, since.total_seconds())


def next_look(progress: Progress, certificates_due: float | None, unhealthy_for: float) -> Outcome:
    """Why pods do not run changes without any event of their workload: seldomer, the longer."""
    if not progress.complete:
        return Wait(ROLLOUT_POLL_SECONDS)
    due = [DEGRADED_POLL_SECONDS] if progress.degraded else []
    if progress.unhealthy and unhealthy_for < UNHEALTHY_LOOKED_AT_SECONDS:
        due.append(max(UNHEALTHY_POLL_SECONDS, unhealthy_for))
    due += [at for at in (certificates_due, progress.contended_seconds) if at is not None]
    return Done(requeue_after=min(due, default=None))


def by_deadline(outcome: Outcome, seconds: float | None) -> Outcome:
    """The same, but not after the deadline: the status is to say in time that it passed."""
    if seconds is None or seconds <= 0:
        return outcome
    match outcome:
        case Wait(seconds=wait, message=message):
            return Wait(min(wait, seconds), message)
        case Retry(message=message, within=within, after=after):
            return Retry(message, seconds if within is None else min(within, seconds), after)
        case _:
            return outcome
