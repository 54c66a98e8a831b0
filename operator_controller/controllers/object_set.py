"""The story of a ClusterObjectSet: one revision, rolled out phase by phase, kept, archived.

Everything it applies is applied as the identity that its annotations name. The objects belong to
the extension that the revision is of, so they pass from one revision to the next in one write; a
ClusterObjectSet of no extension owns its objects itself.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from api import wire
from api.objects import KubeObject, annotations_of, condition, metadata
from api.olm.v1 import names
from api.olm.v1.conditions import ConditionStatus, ConditionType, merge_conditions
from olm_rollout.checks import check_phases
from olm_rollout.io.rollout import Rollout
from olm_rollout.io.stale_webhooks import remove_stale_webhooks
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import controller_of
from olm_rollout.phases import Phase
from olm_rollout.probes import Gate, Probes
from olm_rollout.progress import Progress
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.status_writer import (
    StatusWriter,
    progressing,
    readable_conditions,
    with_condition,
)
from olm_runtime.errors import OLMError, TerminalError, WaitingError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome, Retry, Wait
from operator_controller.apply.observed import ObservedPhases, check_unchanged
from operator_controller.apply.owners import owner_of
from operator_controller.apply.progression import read_probes
from operator_controller.apply.revisions import (
    Revision,
    Revisions,
    age_of,
    deadline_minutes,
    parse_revision,
    seconds_left,
)
from operator_controller.controllers.memory import Memory
from operator_controller.controllers.object_news import ObjectNews
from operator_controller.controllers.retirement import Retirement, may_drop_finalizers
from operator_controller.io.certificates import RevisionCertificates
from operator_controller.io.revisions import RevisionStore
from operator_controller.status.object_set import RevisionFacts, revision_conditions

ROLLOUT_POLL_SECONDS = 2.0
DEGRADED_POLL_SECONDS = 30.0
UNHEALTHY_POLL_SECONDS = 5.0
UNHEALTHY_LOOKED_AT_SECONDS = 600.0
"""Later it is left to the look at everything, every ten minutes."""
SUPERSEDED_SECONDS = 5.0
GOING_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Story:
    """What one reconcile of a revision has found so far; `untold`: nothing for the status.

    `record`: how a revision that nothing replaces left its objects. `leaving`: it is deleted, or
    goes with its owner.
    """

    revision: Revision
    siblings: Revisions = field(default_factory=Revisions)
    observed: ObservedPhases = field(default_factory=list)
    progress: Progress = field(default_factory=Progress)
    record: str = ""
    leaving: bool = False
    untold: bool = False


@dataclass(slots=True)
class ObjectSetController:
    """Reconciles ClusterObjectSets by name."""

    client: KubeClient
    store: RevisionStore
    statuses: StatusWriter
    watches: ManagedWatches
    gate: Gate
    certificates: RevisionCertificates
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    ring: Callable[[str, float], None]
    departs: Callable[[KubeObject], None]
    """Told of a set before its own reconcile deletes it: nobody need look at its end."""
    allow_controller_identity: bool = False
    news: ObjectNews = field(init=False)
    _memories: dict[str, Memory] = field(default_factory=dict)
    _retirement: Retirement = field(init=False)

    def __post_init__(self) -> None:
        self.news = ObjectNews(self._memories, self.watches, self.ring)
        self._retirement = Retirement(
            self.client,
            self.store,
            self.watches,
            self.clock,
            self.monotonic,
            self._identity,
            self.ring,
        )

    async def report_failure(self, name: str, failed: Failed) -> None:
        """Says in the status why a reconcile ended before it could say anything itself."""
        raw = await self.store.find(name)
        if raw is not None:
            generation = int(metadata(raw).get("generation") or 0)
            told = progressing(failed, generation)
            await self.statuses.write(raw, with_condition(raw, told, self.clock()))

    def retire(self, revision: Revision) -> bool:
        """Has a revision go with its owner, which is deleted; whether that is news to it.

        Not noted in the cluster: the owner says so again for as long as it is there.
        """
        memory = self._memory(revision)
        news = not memory.owner_deleted
        memory.owner_deleted = True
        if news:
            memory.retired = revision.raw
            self.ring(revision.name, 0.0)
        return news

    async def reconcile(self, name: str) -> Outcome:
        """Brings one ClusterObjectSet forward; writes its status on every exit."""
        with self.news.judged_afterwards(name):
            return await self._reconcile(name)

    async def _reconcile(self, name: str) -> Outcome:
        raw = self._retired(name) or await self.store.find(name)
        if raw is None:
            self._forget(name)
            return Done()
        story = Story(parse_revision(raw))
        outcome = await attempt(self._advance(story), f"ClusterObjectSet {name}")
        if outcome == Done():
            self.store.release(story.revision.raw)
        if story.untold:
            return outcome
        if memory := self._memories.get(name):
            memory.retired = None
        await self._write_status(story, outcome)
        if story.progress.complete:
            await self._archive_older(story)
            await self._keep_record(story)
        return _by_deadline(outcome, self._seconds_left(story.revision))

    async def _advance(self, story: Story) -> Outcome:
        revision, memory = story.revision, self._memory(story.revision)
        story.leaving = revision.deleting or memory.owner_deleted
        if revision.deleting:
            return await self._delete(story)
        if revision.archived or memory.owner_deleted:
            return await self._take_down(story)
        story.siblings = await self._siblings(revision)
        pause = self._pause(revision, story.siblings)
        if pause > 0:
            story.untold = True
            return Wait(pause)
        await self._roll_out(story)
        due = self.certificates.seconds_until_due(revision.name)
        return _next_look(story.progress, due, _unhealthy_for(revision, self.clock()))

    def _retired(self, name: str) -> KubeObject | None:
        """A set as it was when its owner went, until there is something to tell of it.

        There is only one way for it from then on, and mostly it is gone before.
        """
        memory = self._memories.get(name)
        return memory.retired if memory is not None else None

    def _forget(self, name: str) -> None:
        """The memory of a revision; its watches too where it owns its objects itself."""
        self._memories.pop(name, None)
        self.news.forget(name)
        self.certificates.forget(name)
        self.watches.stop((names.CLUSTER_OBJECT_SET, name))

    def _memory(self, revision: Revision) -> Memory:
        known = self._memories.get(revision.name)
        if known is None or known.uid != revision.uid:
            known = self._memories[revision.name] = Memory(revision.uid)
        return known

    def _seconds_left(self, revision: Revision) -> float | None:
        """Until the revision must have rolled out; None where no deadline counts."""
        memory, now = self._memory(revision), self.monotonic()
        if memory.age is None:
            memory.age = age_of(revision, self.clock(), now)
        return seconds_left(revision, memory.age.at(now))

    async def _memory_of_removal(self, revision: Revision) -> Memory:
        memory = self._memory(revision)
        if not memory.owner_deleted:
            memory.owner_deleted = await self._retirement.is_deleted_with_owner(revision)
        return memory

    def _pause(self, revision: Revision, siblings: Revisions) -> float:
        """Seconds to leave a revision alone that a newer one is about to replace.

        Each object that the newer one takes over enqueues the older one too. It has nothing to do
        with them, and only looks from time to time whether one that it alone has is missing; not
        at once, because most are replaced by then. One that never rolled out has nothing to look
        after: its extension is about to archive it.
        """
        memory = self._memory(revision)
        if not siblings.newer_than(revision.number):
            memory.paused = None
            return 0.0
        if not revision.succeeded:
            return SUPERSEDED_SECONDS
        return memory.pause(SUPERSEDED_SECONDS, self.monotonic())

    async def _roll_out(self, story: Story) -> None:
        revision, owner = story.revision, owner_of(story.revision, story.siblings)
        account = self._identity(revision)
        given = (revision.raw.get("spec") or {}).get("progressionProbes") or ()
        probes = Probes(self.gate, read_probes(given))
        phases = await self._read(story, account)
        if owner.kind == names.CLUSTER_OBJECT_SET:
            await self._hold(revision)
        certified = await self.certificates.certify(
            account, revision.name, phases, newest=not owner.newer
        )
        memory = self._memory(revision)
        rollout = Rollout(
            account,
            owner,
            watches=self.watches,
            probes=probes,
            applied=memory.applied,
            probed=memory.probed,
            newer=partial(self._newer, revision),
            settled=revision.succeeded,
        )
        if not owner.newer:
            await rollout.restore(certified.phases, _record_of(revision))
        memory.applied.forget(certified.changed)
        try:
            story.progress = await rollout.run(certified.phases)
        except OLMError as error:
            raise await remove_stale_webhooks(account, owner, memory.refusal, error) from error
        memory.refusal.since = None
        if story.progress.complete:
            self.certificates.note_applied(revision.name)
            story.record = "" if owner.newer else rollout.record()

    async def _read(self, story: Story, account: KubeClient) -> Sequence[Phase]:
        """The content, which must be well-formed and what it was at the first time."""
        raw = story.revision.raw
        content = await self.store.content(raw, account)
        check_unchanged(raw.get("status") or {}, content.observed)
        story.observed = content.observed
        check_phases(content.phases)
        return content.phases

    async def _hold(self, revision: Revision) -> None:
        """Puts our finalizer on a set that owns its objects, before it owns any."""
        present = list(metadata(revision.raw).get("finalizers") or ())
        if names.FINALIZER_TEARDOWN not in present:
            await self.store.set_finalizers(revision.raw, [*present, names.FINALIZER_TEARDOWN])

    async def _take_down(self, story: Story) -> Outcome:
        """An archived set loses what only it has; one whose owner goes is deleted after that."""
        revision = story.revision
        if revision.finished:
            self._forget(revision.name)
            story.untold = True
            return Done()
        memory = await self._memory_of_removal(revision)
        siblings = Revisions() if memory.owner_deleted else await self._siblings(revision)
        outcome = await self._remove_objects(story, memory, siblings)
        if isinstance(outcome, Done):
            if memory.owner_deleted:  # who waits for the end of its revisions
                self.departs(revision.raw)
                await self.store.delete(revision)
                story.untold = True
            self._forget(revision.name)
        return outcome

    async def _delete(self, story: Story) -> Outcome:
        """A set that owns its objects takes them along, last phase first."""
        revision = story.revision
        finalizers = list(metadata(revision.raw).get("finalizers") or ())
        if names.FINALIZER_TEARDOWN in finalizers:
            memory = await self._memory_of_removal(revision)
            if not may_drop_finalizers(revision.raw, memory.removal.seconds(self.monotonic())):
                outcome = await self._remove_objects(story, memory, Revisions())
                if not isinstance(outcome, Done):
                    return outcome
            finalizers.remove(names.FINALIZER_TEARDOWN)
            with suppress(NotFoundError):
                await self.store.set_finalizers(revision.raw, finalizers)
        self._forget(revision.name)
        story.untold = True
        return Done()

    async def _remove_objects(self, story: Story, memory: Memory, siblings: Revisions) -> Outcome:
        """Goes on with it; there is nothing to tell of what is quick."""
        revision = story.revision
        outcome = await self._retirement.take_down(
            revision, owner_of(revision, siblings), memory, in_service=siblings.active
        )
        story.untold = isinstance(outcome, Wait) and not outcome.message
        return outcome

    async def _archive_older(self, story: Story) -> None:
        """Those that were there when we began; one that is made later has a higher number.

        None if this one was archived itself meanwhile: then the older ones stay in service.
        """
        revision = story.revision
        older = story.siblings.older_than(revision.number)
        if not older or not await self._is_in_service(revision):
            return
        for each in older:
            log.info("%s replaces %s", revision.name, each.name)
            await self.store.archive(each)

    async def _is_in_service(self, revision: Revision) -> bool:
        """Whether a revision is active at this moment."""
        raw = await self.store.find(revision.name, at_this_moment=True)
        now = parse_revision(raw) if raw is not None else None
        return now is not None and now.uid == revision.uid and not (now.archived or now.deleting)

    async def _keep_record(self, story: Story) -> None:
        """Notes how the objects were left, so that the next start need not write them again."""
        if story.record and story.record != _record_of(story.revision):
            note = {names.ANNOTATION_APPLIED: story.record}
            with suppress(NotFoundError):
                await self.store.patch(story.revision, {"metadata": {"annotations": note}})

    async def _siblings(self, revision: Revision, *, at_this_moment: bool = False) -> Revisions:
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return Revisions((revision,))
        return await self.store.of_extension(str(controller["name"]), at_this_moment=at_this_moment)

    async def _newer(self, revision: Revision) -> frozenset[int]:
        now = await self.store.find(revision.name, at_this_moment=True)
        if now is None or await self._retirement.is_owner_deleted(parse_revision(now)):
            raise WaitingError(
                f"the owner of {revision.name} is being deleted", seconds=GOING_SECONDS
            )
        return owner_of(revision, await self._siblings(revision, at_this_moment=True)).newer

    def _identity(self, revision: Revision) -> KubeClient:
        notes = annotations_of(revision.raw)
        name = notes.get(names.ANNOTATION_SERVICE_ACCOUNT_NAME)
        namespace = notes.get(names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE)
        if name and namespace:
            return self.client.as_service_account(namespace, name)
        if self.allow_controller_identity:
            return self.client
        raise TerminalError(
            f"ClusterObjectSet {revision.name} names no service account to act as",
            hint=f"set the annotations {names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE} and "
            f"{names.ANNOTATION_SERVICE_ACCOUNT_NAME}, or start operator-controller with "
            "--allow-controller-identity",
        )

    async def _write_status(self, story: Story, outcome: Outcome) -> None:
        revision, now = story.revision, self.clock()
        status: dict[str, Any] = dict(revision.raw.get("status") or {})
        left = None if story.leaving else self._seconds_left(revision)
        facts = RevisionFacts(
            version=revision.bundle.version or str(revision.number),
            generation=int(metadata(revision.raw).get("generation") or 0),
            archived=revision.archived,
            progress=story.progress,
            outcome=outcome,
            succeeded_before=revision.succeeded,
            leaving=story.leaving,
            overdue_minutes=None if left is None or left > 0 else deadline_minutes(revision),
        )
        merged = merge_conditions(readable_conditions(status), revision_conditions(facts), now)
        status["conditions"] = [wire.write(condition) for condition in merged]
        if story.observed and not status.get("observedPhases"):
            status["observedPhases"] = story.observed
        await self.statuses.write(revision.raw, status)


def _record_of(revision: Revision) -> str:
    return annotations_of(revision.raw).get(names.ANNOTATION_APPLIED, "")


def _unhealthy_for(revision: Revision, now: datetime) -> float:
    """Seconds since its objects were found not to work; 0 where they did, or it is news."""
    found = condition(revision.raw, ConditionType.AVAILABLE)
    if found is None or found["status"] != ConditionStatus.FALSE:
        return 0.0
    since: timedelta = now - datetime.fromisoformat(found["lastTransitionTime"])
    return max(0.0, since.total_seconds())


def _next_look(progress: Progress, certificates_due: float | None, unhealthy_for: float) -> Outcome:
    """Why pods do not run changes without any event of their workload: seldomer, the longer."""
    if not progress.complete:
        return Wait(ROLLOUT_POLL_SECONDS)
    looks = [DEGRADED_POLL_SECONDS] if progress.degraded else []
    if progress.unhealthy and unhealthy_for < UNHEALTHY_LOOKED_AT_SECONDS:
        looks.append(max(UNHEALTHY_POLL_SECONDS, unhealthy_for))
    looks += [due for due in (certificates_due, progress.contended_seconds) if due is not None]
    return Done(requeue_after=min(looks, default=None))


def _by_deadline(outcome: Outcome, seconds: float | None) -> Outcome:
    """The same, but looked at again when the deadline passes, so that it is told in time."""
    if seconds is None or seconds <= 0:
        return outcome
    match outcome:
        case Wait(seconds=wait, message=message):
            return Wait(min(wait, seconds), message)
        case Retry(message=message, within=within):
            return Retry(message, seconds if within is None else min(within, seconds))
        case _:
            return outcome
