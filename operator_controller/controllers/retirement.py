"""How a ClusterObjectSet ends: archived behind a newer one, with its extension, or deleted.

Its objects are deleted last phase first, as the identity that applied them, or the one that
applies what replaces them. Nobody is kept waiting for what cannot be done any more: when the owner
of the objects goes, what the identity may not delete, or what is not known because the content is
lost, is the garbage collector's.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from api.objects import GVK, KubeObject, ObjectKey, key_of, metadata
from api.olm.v1 import names
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import Owner, controller_of
from olm_rollout.phases import Identity, identity, names_only
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Outcome, Wait
from operator_controller.apply.pack import MissingContentError
from operator_controller.apply.revisions import Revision
from operator_controller.io.revisions import RevisionStore
from operator_controller.io.rollout import Memory
from operator_controller.io.teardown import RevisionTeardown

EXTENSION = GVK(names.GROUP, names.VERSION, names.CLUSTER_EXTENSION)
ORPHAN_FINALIZER = "orphan"
"""The server's own, while `kubectl delete --cascade=orphan` sets the dependents free."""

QUIET_SECONDS = 5.0
"""What is gone within this time needs no telling."""
ORDER_SECONDS = 30.0
"""After this time a phase no longer waits for the one after it."""
LETTING_GO_SECONDS = 600.0
"""After this time what is still there is left to the garbage collector."""
FIRST_POLL_SECONDS = 0.3
LAST_POLL_SECONDS = 10.0

REMOVING = "removing revision resources that are not owned by another revision"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Retirement:
    """Takes revisions down."""

    client: KubeClient
    store: RevisionStore
    watches: ManagedWatches
    clock: Callable[[], datetime]
    monotonic: Callable[[], float]
    identity_of: Callable[[Revision], KubeClient]
    ring: Callable[[str, float], None]
    """Has a revision looked at, by name, after so many seconds."""

    async def take_down(
        self, revision: Revision, owner: Owner, memory: Memory, *, in_service: Sequence[Revision]
    ) -> Outcome:
        """Deletes what only this revision has: what those `in_service` have as well stays.

        As the identity of the newest of them, whose rights were looked at before it was made.

        Done when it is gone, else Wait: with a message once it has taken a while. Raises OLMError.
        """
        seconds = self.seconds_removing(memory)
        try:
            account = self.identity_of(in_service[-1] if in_service else revision)
            memory.doomed = memory.doomed or names_only(
                (await self.store.content(revision.raw, account)).phases
            )
        except (MissingContentError, TerminalError) as error:
            if not memory.owner_takes_all:
                raise
            return _left_to_garbage_collection(revision, [error])
        teardown = RevisionTeardown(
            account,
            owner,
            watches=self.watches,
            memory=memory,
            in_order=seconds < ORDER_SECONDS,
        )
        remains = await teardown.run(memory.doomed, await self._content_of(in_service))
        if not remains.held:
            return _left_to_garbage_collection(revision, remains.left)
        self.watches.tell_when_gone(
            (owner.kind, owner.name),
            revision.name,
            map(key_of, remains.held),
            partial(self._note_gone, revision.name, memory),
        )
        poll = min(LAST_POLL_SECONDS, max(FIRST_POLL_SECONDS, seconds / 5))
        if seconds < QUIET_SECONDS and not revision.retrying:  # that was an error of its rollout
            return Wait(poll)
        obstacles = await teardown.obstacles(remains.held, self.clock())
        return Wait(poll, "\n".join((REMOVING, *obstacles)))

    def seconds_removing(self, memory: Memory) -> float:
        """Since the first attempt to take a revision down, which this is if there was none."""
        if memory.removing is None:
            memory.removing = self.monotonic()
        return self.monotonic() - memory.removing

    def _note_gone(self, name: str, memory: Memory, keys: frozenset[ObjectKey]) -> None:
        memory.removed |= keys
        self.ring(name, 0.0)

    async def _content_of(self, revisions: Iterable[Revision]) -> frozenset[Identity]:
        found = [
            await self.store.content(revision.raw, self.identity_of(revision))
            for revision in revisions
        ]
        return frozenset(identity(obj) for each in found for p in each.phases for obj in p.objects)

    async def owner_goes(self, revision: Revision) -> bool:
        """Whether the owner of a revision's objects is being deleted, or gone."""
        owner = await self._owner(revision)
        return owner is None or is_going(owner)

    async def owner_takes_all(self, revision: Revision) -> bool:
        """Whether the owner of a revision's objects is gone, or is deleted together with them."""
        owner = await self._owner(revision)
        return owner is None or (is_going(owner) and not is_orphaning(owner))

    async def _owner(self, revision: Revision) -> KubeObject | None:
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return revision.raw
        try:
            found = await self.client.get(EXTENSION, str(controller["name"]), metadata_only=True)
        except NotFoundError:
            return None
        return found if metadata(found)["uid"] == controller["uid"] else None


def lets_go(raw: KubeObject, seconds: float) -> bool:
    """Whether a deleted object is to go at once: its dependents are kept, or took too long.

    They have been worked at for so many `seconds`: while nobody does, nobody is given up.
    """
    return is_orphaning(raw) or seconds > LETTING_GO_SECONDS


def is_orphaning(raw: KubeObject) -> bool:
    """Whether an object is deleted while the server sets its dependents free."""
    return ORPHAN_FINALIZER in (metadata(raw).get("finalizers") or ())


def is_going(raw: KubeObject) -> bool:
    """Whether the deletion of an object has been asked for."""
    return bool(metadata(raw).get("deletionTimestamp"))


def _left_to_garbage_collection(revision: Revision, left: Iterable[OLMError | str]) -> Outcome:
    for what in left:
        log.info("%s: left to the garbage collector: %s", revision.name, what)
    return Done()
