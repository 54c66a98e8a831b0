"""How a ClusterObjectSet ends: replaced by a newer one, with its extension, or deleted itself.

Its objects are deleted last phase first, as the identity that applied them, or the one that
applies what replaces them. When the owner of the objects is deleted, what the identity may not
delete, or what is not known because the content is lost, is left to the garbage collector.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from api.objects import KubeObject, ObjectKey, key_of
from olm_rollout.io.orphaning import set_free
from olm_rollout.io.teardown import Removal, Teardown
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import Owner
from olm_rollout.phases import Identity, identity
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.outcome import Done, Outcome, Wait
from operator_controller.apply.revisions import Revision
from operator_controller.apply.unpack import MissingContentError
from operator_controller.controllers.per_revision import PerRevision
from operator_controller.controllers.relations import Relations, is_orphaning
from operator_controller.io.revisions import RevisionStore

QUIET_SECONDS = 5.0
"""What is gone within this time is not reported."""
ORDER_SECONDS = 30.0
"""After this time a phase no longer waits for the one after it."""
REMOVAL_SECONDS = 600.0
"""After this time what is still there is left to the garbage collector."""
FIRST_POLL_SECONDS = 0.3
LAST_POLL_SECONDS = 10.0

REMOVING = "removing revision resources that are not owned by another revision"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Ending:
    """What is known of a revision that ends.

    `owner_deleted`: its owner is gone, or deleted together with its objects, so that there is no
    way back.
    """

    removal: Removal = field(default_factory=Removal)
    owner_deleted: bool = False


@dataclass(slots=True)
class Retirement:
    """Takes revisions down."""

    relations: Relations
    store: RevisionStore
    watches: ManagedWatches
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    enqueue: Callable[[str, float], None]
    """Enqueues a revision, by name, after so many seconds."""
    _endings: PerRevision[Ending] = field(default_factory=lambda: PerRevision(Ending))

    def begin(self, revision: Revision) -> bool:
        """Has a revision go with its owner, which is deleted; whether that was not known yet.

        Not noted in the cluster: the owner asks again for as long as it is there.
        """
        ending = self._endings.of(revision)
        is_new = not ending.owner_deleted
        ending.owner_deleted = True
        if is_new:
            self.enqueue(revision.name, 0.0)
        return is_new

    def has_begun(self, revision: Revision) -> bool:
        """Whether a revision is known to go with its owner."""
        return self._endings.of(revision).owner_deleted

    async def goes_with_owner(self, revision: Revision) -> bool:
        """Whether it goes with its owner; asks for that if it is not known. Raises OLMError."""
        ending = self._endings.of(revision)
        if not ending.owner_deleted:
            ending.owner_deleted = await self.relations.is_deleted_with_owner(revision)
        return ending.owner_deleted

    def is_taken_down(self, name: str) -> bool:
        """Whether the objects of the revision of a name are being deleted."""
        ending = self._endings.get(name)
        return ending is not None and ending.removal.since is not None

    def may_drop_finalizers(self, revision: Revision) -> bool:
        """Whether a deleted revision is to go at once."""
        seconds = self._endings.of(revision).removal.seconds(self.monotonic())
        return may_drop_finalizers(revision.raw, seconds)

    def forget(self, name: str) -> None:
        """Drops what is known of the revision of a name."""
        self._endings.forget(name)

    async def take_down(
        self, revision: Revision, owner: Owner, *, in_service: Sequence[Revision]
    ) -> Outcome:
        """Deletes what only this revision has: what those `in_service` have as well stays.

        As the identity of the newest of them, whose rights were checked before it was made.

        Done when it is gone, else Wait: with a message once it has taken a while. Raises OLMError.
        """
        ending = self._endings.of(revision)
        removal = ending.removal
        seconds = removal.seconds(self.monotonic())
        try:
            account = self.relations.identity(in_service[-1] if in_service else revision)
            if removal.phases is None:
                removal.begin((await self.store.content(revision.raw, account)).phases)
        except (MissingContentError, TerminalError) as error:
            if not ending.owner_deleted:
                raise
            return _left_to_garbage_collection(revision, [error])
        teardown = Teardown(
            account,
            owner,
            watches=self.watches,
            removal=removal,
            in_order=seconds < ORDER_SECONDS,
            with_owner=ending.owner_deleted,
        )
        remains = await teardown.run(await self._content_of(in_service))
        if not remains.held:
            return _left_to_garbage_collection(revision, remains.left)
        self.watches.call_when_deleted(
            (owner.kind, owner.name),
            revision.name,
            map(key_of, remains.held),
            partial(self._note_gone, revision.name, removal),
        )
        poll = min(LAST_POLL_SECONDS, max(FIRST_POLL_SECONDS, seconds / 5))
        if seconds < QUIET_SECONDS and not revision.retrying:  # that was an error of its rollout
            return Wait(poll)
        obstacles = await teardown.obstacles(remains.held, self.clock())
        return Wait(poll, "\n".join((REMOVING, *obstacles)))

    async def set_free(self, revision: Revision, owner_uid: str) -> None:
        """Has the objects of a revision stay without their owner. Raises OLMError.

        What is not known, because the content is lost, is left to the garbage collector.
        """
        try:
            account = self.relations.identity(revision)
            phases = (await self.store.content(revision.raw, account)).phases
        except (MissingContentError, TerminalError) as error:
            _left_to_garbage_collection(revision, [error])
            return
        await set_free(account, owner_uid, [obj for phase in phases for obj in phase.objects])

    def _note_gone(self, name: str, removal: Removal, keys: frozenset[ObjectKey]) -> None:
        removal.note_gone(keys)
        self.enqueue(name, 0.0)

    async def _content_of(self, revisions: Iterable[Revision]) -> frozenset[Identity]:
        found = [
            await self.store.content(revision.raw, self.relations.identity(revision))
            for revision in revisions
        ]
        return frozenset(identity(obj) for each in found for p in each.phases for obj in p.objects)


def may_drop_finalizers(raw: KubeObject, seconds: float) -> bool:
    """Whether a deleted object is to go at once: its dependents stay, or took too long.

    `seconds`: how long its dependents have been taken down; time during which no controller ran
    does not count.
    """
    return is_orphaning(raw) or seconds > REMOVAL_SECONDS


def _left_to_garbage_collection(revision: Revision, left: Iterable[OLMError | str]) -> Outcome:
    for what in left:
        log.info("%s: left to the garbage collector: %s", revision.name, what)
    return Done()
