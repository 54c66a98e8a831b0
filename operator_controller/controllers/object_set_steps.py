"""The steps of a ClusterObjectSet: one revision, rolled out phase by phase, maintained, archived.

Everything it applies is applied as the identity that its annotations name. The objects belong to
the extension that the revision is of, so they pass from one revision to the next in one write; a
ClusterObjectSet of no extension owns its objects itself.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from api.objects import KubeObject, annotations_of, finalizers_of
from api.olm.v1 import names
from olm_rollout.checks import check_phases
from olm_rollout.io.rollout import Rollout
from olm_rollout.io.stale_webhooks import remove_stale_webhooks
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import Owner
from olm_rollout.probes import Gate, Probes
from olm_runtime.controller.reconciler import Finish, Step, Stop
from olm_runtime.errors import OLMError, WaitingError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Outcome, Wait
from olm_runtime.watch.store import Store
from operator_controller.apply.observed import check_unchanged
from operator_controller.apply.owners import owner_of
from operator_controller.apply.progression import read_probes
from operator_controller.apply.revisions import (
    Revision,
    Revisions,
    parse_revision,
)
from operator_controller.controllers.object_changes import ObjectChanges, RolledOut
from operator_controller.controllers.per_revision import PerRevision
from operator_controller.controllers.relations import Relations
from operator_controller.controllers.retirement import Retirement
from operator_controller.controllers.revision_context import RevisionContext
from operator_controller.controllers.revision_timing import Timing
from operator_controller.io.certificates import RevisionCertificates
from operator_controller.io.revisions import RevisionStore

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ObjectSetSteps:
    """What the steps need, and remember of each revision. Both clocks are given."""

    client: KubeClient
    extensions: Store[KubeObject]
    store: RevisionStore
    watches: ManagedWatches
    gate: Gate
    certificates: RevisionCertificates
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    enqueue: Callable[[str, float], None]
    allow_controller_identity: bool = False
    changes: ObjectChanges = field(init=False)
    _rolled_out: PerRevision[RolledOut] = field(default_factory=lambda: PerRevision(RolledOut))
    _timing: PerRevision[Timing] = field(default_factory=lambda: PerRevision(Timing))
    _relations: Relations = field(init=False)
    _retirement: Retirement = field(init=False)

    def __post_init__(self) -> None:
        self._relations = Relations(
            self.client, self.extensions, self.store, self.allow_controller_identity
        )
        self._retirement = Retirement(
            self._relations, self.store, self.watches, self.clock, self.monotonic, self.enqueue
        )
        self.changes = ObjectChanges(
            self._rolled_out, self._retirement.is_taken_down, self.watches, self.enqueue
        )

    def in_order(self) -> tuple[Step[RevisionContext], ...]:
        """All steps, as they are run."""
        return self.look, self.take_down, self.leave_to_newer, self.read_content, self.roll_out

    def begin(self, obj: KubeObject) -> RevisionContext:
        """The context of a set that is not being deleted."""
        revision = parse_revision(obj)
        leaving = self._retirement.has_begun(revision)
        suspension = None if leaving else self._relations.suspension(revision)
        return RevisionContext(revision, leaving=leaving, suspension=suspension)

    def retire(self, revision: Revision) -> bool:
        """Has a revision go with its owner, which is deleted; whether that was not known yet."""
        return self._retirement.begin(revision)

    async def set_free(self, revision: Revision, owner_uid: str) -> None:
        """Has the objects of a revision stay when their owner is deleted. Raises OLMError."""
        await self._retirement.set_free(revision, owner_uid)

    async def forget(self, name: str) -> None:
        """Drops what is remembered of a revision; its watches too where it owns its objects."""
        for records in (self._rolled_out, self._timing, self._retirement):
            records.forget(name)
        self.changes.forget(name)
        self.certificates.forget(name)
        self.watches.stop((names.CLUSTER_OBJECT_SET, name))

    # Steps

    async def look(
        self, context: RevisionContext
    ) -> RevisionContext | Stop | Finish[RevisionContext]:
        """A suspended set is only looked at: whether it works, and what was changed.

        Nothing is done for one whose extension left it behind.
        """
        revision = context.revision
        if revision.is_set_free:
            return self._stop(revision, Done())
        if context.suspension is None or revision.finished:
            return context
        if await self._retirement.goes_with_owner(revision):
            return replace(context, suspension=None)
        if revision.archived:
            return Finish(context)
        siblings = await self._relations.siblings(revision)
        found = await self.read_content(replace(context, siblings=siblings))
        if found.account is None or found.probes is None:
            return Finish(found)
        owner = owner_of(revision, siblings)
        rollout = self._rollout(revision, owner, found.account, found.probes)
        progress = await rollout.look(found.phases, record_of(revision))
        return Finish(replace(found, progress=progress))

    async def take_down(self, context: RevisionContext) -> RevisionContext | Stop:
        """An archived set loses what only it has; one whose owner goes is deleted after that."""
        revision = context.revision
        if not (revision.archived or context.leaving):
            return context
        if revision.finished:
            await self.forget(revision.name)
            return self._stop(revision, Done())
        with_owner = await self._retirement.goes_with_owner(revision)
        siblings = Revisions() if with_owner else await self._relations.siblings(revision)
        outcome = await self._remove_objects(revision, siblings)
        if isinstance(outcome, Wait) and outcome.message:
            raise WaitingError(outcome.message, seconds=outcome.seconds)
        if not isinstance(outcome, Done):
            return Stop(outcome)
        if not self._retirement.has_begun(revision):  # it may have while objects were removed
            await self.forget(revision.name)
            return replace(context, removed=True)
        await self.store.delete(revision)
        await self.forget(revision.name)
        return self._stop(revision, Done())

    async def leave_to_newer(self, context: RevisionContext) -> RevisionContext | Stop:
        """Leaves a revision alone for a while that a newer one is about to replace."""
        if context.removed:
            return context
        siblings = await self._relations.siblings(context.revision)
        superseded = bool(siblings.newer_than(context.revision.number))
        timing = self._timing.of(context.revision)
        pause = timing.pause(context.revision, self.monotonic(), superseded=superseded)
        return Stop(Wait(pause)) if pause > 0 else replace(context, siblings=siblings)

    async def read_content(self, context: RevisionContext) -> RevisionContext:
        """The content, which must be what it was at the first time."""
        if context.removed:
            return context
        revision, raw = context.revision, context.revision.raw
        account = self._relations.identity(revision)
        probes = self._probes(revision)
        content = await self.store.content(raw, account)
        check_unchanged(raw.get("status") or {}, content.observed)
        return replace(
            context,
            account=account,
            probes=probes,
            observed=content.observed,
            phases=content.phases,
        )

    async def roll_out(self, context: RevisionContext) -> RevisionContext:
        """Applies phase after phase."""
        if context.account is None or context.probes is None:
            return context
        check_phases(context.phases)
        revision, account = context.revision, context.account
        owner, left = owner_of(revision, context.siblings), self._rolled_out.of(revision)
        if owner.kind == names.CLUSTER_OBJECT_SET:
            await self._add_finalizer(revision)
        certified = await self.certificates.certify(
            account, revision.name, context.phases, newest=not owner.newer
        )
        rollout = self._rollout(revision, owner, account, context.probes)
        if not owner.newer:
            await rollout.restore(certified.phases, record_of(revision))
        left.applied.forget(certified.changed)
        try:
            progress = await rollout.run(certified.phases)
        except OLMError as error:
            raise await remove_stale_webhooks(account, owner, left.refusal, error) from error
        left.refusal.since = None
        if not progress.complete:
            return replace(context, progress=progress)
        self.certificates.note_applied(revision.name)
        record = "" if owner.newer else rollout.record()
        return replace(context, progress=progress, record=record)

    def _rollout(
        self, revision: Revision, owner: Owner, account: KubeClient, probes: Probes
    ) -> Rollout:
        left = self._rolled_out.of(revision)
        return Rollout(
            account,
            owner,
            watches=self.watches,
            probes=probes,
            applied=left.applied,
            probed=left.probed,
            newer=partial(self._relations.newer, revision),
            settled=revision.succeeded,
            check=partial(self._relations.check_not_suspended, revision),
        )

    # Once the status is written

    async def archive_older(self, context: RevisionContext) -> RevisionContext:
        """Those that were there when we began; one that is made later has a higher number.

        None if this one was archived itself meanwhile: then the older ones stay in service.
        """
        revision = context.revision
        complete = context.progress.complete and context.suspension is None
        older = context.siblings.older_than(revision.number) if complete else ()
        if older and await self._relations.is_in_service(revision):
            for each in older:
                log.info("%s replaces %s", revision.name, each.name)
                await self.store.archive(each)
        return context

    async def write_record(self, context: RevisionContext) -> RevisionContext:
        """Notes how the objects were left, so that the next start need not write them again."""
        if context.record and context.record != record_of(context.revision):
            note = {names.ANNOTATION_APPLIED: context.record}
            with suppress(NotFoundError):
                await self.store.patch(context.revision, {"metadata": {"annotations": note}})
        return context

    # Deletion

    async def remove(self, revision: Revision) -> Outcome:
        """Removes the objects of a set that is deleted, last phase first. Raises OLMError."""
        await self._retirement.goes_with_owner(revision)
        if not self._retirement.may_drop_finalizers(revision):
            outcome = await self._remove_objects(revision, Revisions())
            if not isinstance(outcome, Done):
                return outcome
        await self.forget(revision.name)
        self.store.release(revision.raw)
        return Done()

    # What several of them need

    def _stop(self, revision: Revision, outcome: Outcome) -> Stop:
        self.store.release(revision.raw)
        return Stop(outcome)

    def _probes(self, revision: Revision) -> Probes:
        given = (revision.raw.get("spec") or {}).get("progressionProbes") or ()
        return Probes(self.gate, read_probes(given))

    async def _remove_objects(self, revision: Revision, siblings: Revisions) -> Outcome:
        owner = owner_of(revision, siblings)
        return await self._retirement.take_down(revision, owner, in_service=siblings.active)

    async def _add_finalizer(self, revision: Revision) -> None:
        """Puts our finalizer on a set that owns its objects, before it owns any."""
        present = finalizers_of(revision.raw)
        if names.FINALIZER_TEARDOWN not in present:
            await self.store.set_finalizers(revision.raw, [*present, names.FINALIZER_TEARDOWN])

    def seconds_left(self, revision: Revision) -> float | None:
        """Until the revision must have rolled out; None where no deadline counts."""
        return self._timing.of(revision).seconds_left(revision, self.clock(), self.monotonic())


def record_of(revision: Revision) -> str:
    """How its objects were left, as the set itself notes it."""
    return annotations_of(revision.raw).get(names.ANNOTATION_APPLIED, "")
