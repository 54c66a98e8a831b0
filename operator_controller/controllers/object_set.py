"""The story of a ClusterObjectSet: one revision, rolled out phase by phase, kept, archived.

Everything it applies is applied as the identity that its annotations name. The objects belong to
the extension that the revision is of, so they pass from one revision to the next in one write; a
ClusterObjectSet of no extension owns its objects itself.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from api import wire
from api.v1 import names
from api.v1.clusterobjectset import ClusterObjectSet
from api.v1.conditions import merge_conditions
from olm_shared.errors import OLMError, TerminalError
from olm_shared.kube_object import KubeObject, annotations_of, metadata, name_of
from olm_shared.outcome import Done, Outcome, Retry, Wait, outcome_of
from olm_shared.runtime.kube import KubeClient
from operator_controller.apply.checks import check_phases
from operator_controller.apply.ownership import Owner, controller_of
from operator_controller.apply.phases import Identity, identity
from operator_controller.apply.revisions import Revision, Revisions, parse_revision
from operator_controller.io.certificates import CertificateKeeper
from operator_controller.io.revisions import RevisionStore
from operator_controller.io.rollout import Gate, Memory, RevisionRollout
from operator_controller.io.statuses import write_status
from operator_controller.io.watches import ManagedWatches
from operator_controller.status.object_set import RevisionFacts, Rollout, revision_conditions

ROLLOUT_POLL_SECONDS = 2.0
DEGRADED_POLL_SECONDS = 30.0
TEARDOWN_POLL_SECONDS = 1.0
SUPERSEDED_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ObjectSetController:
    """Reconciles ClusterObjectSets by name."""

    client: KubeClient
    store: RevisionStore
    watches: ManagedWatches
    gate: Gate
    certificates: CertificateKeeper
    clock: Callable[[], datetime]
    allow_controller_identity: bool = False
    _memories: dict[str, Memory] = field(default_factory=dict)

    async def reconcile(self, name: str) -> Outcome:
        """Brings one ClusterObjectSet forward; writes its status on every exit."""
        raw = await self.store.find(name)
        if raw is None or metadata(raw).get("deletionTimestamp"):
            self._forget(name)
            return Done()
        revision = parse_revision(raw)
        rollout = Rollout()
        outcome: Outcome
        try:
            if revision.archived:
                outcome = await self._archive(revision)
            else:
                siblings = await self._siblings(revision)
                rest = self._rest(revision, siblings)
                if rest > 0:
                    return Wait(rest)
                rollout = await self._roll_out(revision, siblings)
                outcome = _next_look(rollout, self.certificates.seconds_until_due(name))
        except OLMError as error:
            outcome = outcome_of(error)
        except Exception:
            log.exception("unexpected failure while handling %s", name)
            outcome = Retry("internal error; see the log of the controller")
        await self._write_status(raw, revision, rollout, outcome)
        if rollout.complete:
            await self._archive_older(revision)
        return outcome

    def _forget(self, name: str) -> None:
        """The memory of a revision; its watches too where it owns its objects itself."""
        self._memories.pop(name, None)
        self.certificates.forget(name)
        self.watches.stop((names.CLUSTER_OBJECT_SET, name))

    def _memory(self, revision: Revision) -> Memory:
        known = self._memories.get(revision.name)
        if known is None or known.uid != revision.uid:
            known = self._memories[revision.name] = Memory(revision.uid)
        return known

    def _rollout(self, revision: Revision, siblings: Revisions) -> RevisionRollout:
        return RevisionRollout(
            self._identity(revision),
            owner_of(revision, siblings),
            watches=self.watches,
            memory=self._memory(revision),
            gate=self.gate,
        )

    def _rest(self, revision: Revision, siblings: Revisions) -> float:
        """Seconds to leave a revision alone that a newer one is about to replace.

        Each object that the newer one takes over rings the older one too. It has nothing to do
        with them, and only looks from time to time whether one that it alone has is missing.
        """
        memory, now = self._memory(revision), self.clock()
        superseded = any(r.number > revision.number for r in siblings.active)
        if superseded and memory.looked is not None:
            rest = SUPERSEDED_SECONDS - (now - memory.looked).total_seconds()
            if rest > 0:
                return rest
        memory.looked = now
        return 0.0

    async def _roll_out(self, revision: Revision, siblings: Revisions) -> Rollout:
        phases = await self.store.content(revision.raw)
        check_phases(phases)
        certified = await self.certificates.certify(
            self._identity(revision),
            revision.name,
            phases,
            newest=not owner_of(revision, siblings).newer,
        )
        self._memory(revision).forget(certified.changed)
        rollout = await self._rollout(revision, siblings).run(certified.phases)
        if rollout.complete:
            self.certificates.note_applied(revision.name)
        return rollout

    async def _archive(self, revision: Revision) -> Outcome:
        if is_archived(revision.raw):
            self._forget(revision.name)
            return Done()
        siblings = await self._siblings(revision)
        rollout = self._rollout(revision, siblings)
        kept = await self._content_of(r for r in siblings.active if r.number > revision.number)
        if await rollout.tear_down(await self.store.content(revision.raw), kept):
            self._forget(revision.name)
            return Done()
        message = "removing revision resources that are not owned by another revision"
        return Wait(TEARDOWN_POLL_SECONDS, message)

    async def _content_of(self, revisions: Iterable[Revision]) -> frozenset[Identity]:
        found = [await self.store.content(revision.raw) for revision in revisions]
        return frozenset(identity(obj) for phases in found for p in phases for obj in p.objects)

    async def _archive_older(self, revision: Revision) -> None:
        for older in (await self._siblings(revision)).active:
            if older.number < revision.number:
                log.info("%s replaces %s", revision.name, older.name)
                await self.store.archive(older)

    async def _siblings(self, revision: Revision) -> Revisions:
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return Revisions((revision,))
        return await self.store.of_extension(str(controller["name"]))

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

    async def _write_status(
        self, raw: KubeObject, revision: Revision, rollout: Rollout, outcome: Outcome
    ) -> None:
        old = ClusterObjectSet.from_object(raw).status
        facts = RevisionFacts(
            version=revision.bundle.version or str(revision.number),
            generation=int(metadata(raw).get("generation") or 0),
            archived=revision.archived,
            rollout=rollout,
            outcome=outcome,
            succeeded_before=revision.succeeded,
        )
        merged = merge_conditions(old.conditions, revision_conditions(facts), self.clock())
        status: dict[str, Any] = dict(raw.get("status") or {})
        status["conditions"] = [wire.write(condition) for condition in merged]
        await write_status(self.client, raw, status)


def is_archived(raw: KubeObject) -> bool:
    """Whether the archiving of a revision is finished."""
    conditions = (raw.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Progressing" and c["reason"] == "Archived" for c in conditions)


def owner_of(revision: Revision, siblings: Revisions) -> Owner:
    """Who owns the objects of a revision: its extension, or else the ClusterObjectSet itself."""
    newer = frozenset(r.number for r in siblings.active if r.number > revision.number)
    namespace = annotations_of(revision.raw).get(names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE, "")
    controller = controller_of(revision.raw)
    if controller is not None and controller.get("kind") == names.CLUSTER_EXTENSION:
        return Owner(
            api_version=names.API_VERSION,
            kind=names.CLUSTER_EXTENSION,
            name=str(controller["name"]),
            uid=str(controller["uid"]),
            revision=revision.number,
            newer=newer,
            namespace=namespace,
        )
    return Owner(
        api_version=names.API_VERSION,
        kind=names.CLUSTER_OBJECT_SET,
        name=name_of(revision.raw),
        uid=revision.uid,
        revision=revision.number,
        namespace=namespace,
    )


def _next_look(rollout: Rollout, certificates_due: float | None) -> Outcome:
    if not rollout.complete:
        return Wait(ROLLOUT_POLL_SECONDS)
    looks = [DEGRADED_POLL_SECONDS] if rollout.degraded else []
    if certificates_due is not None:
        looks.append(certificates_due)
    return Done(requeue_after=min(looks, default=None))
