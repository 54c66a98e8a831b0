"""How a ClusterExtension ends: its revisions remove their objects, then its finalizers go.

What is still there after that follows by its owner references.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api.objects import KubeObject, metadata, name_of
from api.olm.v1 import names
from olm_rollout.io.watches import ManagedWatches
from olm_runtime.controller.reconciler import Finalized
from olm_runtime.controller.status_writer import with_condition
from olm_runtime.outcome import Wait
from operator_controller.apply.revisions import Revision
from operator_controller.controllers.relations import is_orphaning
from operator_controller.controllers.retirement import REMOVAL_SECONDS, may_drop_finalizers
from operator_controller.io.bundles import BundleSource
from operator_controller.io.revisions import RevisionStore
from operator_controller.status.extension import removing
from operator_controller.status.transitions import UNINSTALLED

REMOVAL_LOOK_SECONDS = 15.0
"""Each change of a revision enqueues its extension; this is for one that was missed."""


@dataclass(slots=True)
class _Deletion:
    """One under way, since this many seconds of the monotonic clock.

    orphaning  whether the objects of the revisions stay
    """

    since: float
    orphaning: bool


@dataclass(slots=True)
class ExtensionDeletion:
    """What finalizing needs; `monotonic` is a clock in seconds.

    retire  has a revision go with the extension; whether it did not know of that yet
    set_free  has the objects of a revision stay without the extension, which has this uid
    forget  drops what the steps remember of an extension, by name
    """

    store: RevisionStore
    bundles: BundleSource
    watches: ManagedWatches
    monotonic: Callable[[], float]
    retire: Callable[[Revision], bool]
    set_free: Callable[[Revision, str], Awaitable[None]]
    forget: Callable[[str], None]
    _deletions: dict[str, _Deletion] = field(default_factory=dict)
    """Those under way, by the uid of the extension."""

    async def finalize(self, obj: KubeObject, now: datetime) -> Finalized:
        """Has the revisions removed, and says what holds them; then removes the rest."""
        name, uid = name_of(obj), metadata(obj)["uid"]
        revisions = await self.store.of_extension(name)
        remaining = revisions.unfinished
        deletion = self._deletions.get(uid)
        if deletion is None:
            deletion = _Deletion(self.monotonic(), await self._was_orphaned(remaining))
            self._deletions[uid] = deletion
        deletion.orphaning |= is_orphaning(obj)
        seconds = self.monotonic() - deletion.since
        if remaining and not (deletion.orphaning or may_drop_finalizers(obj, seconds)):
            known = [revision for revision in remaining if not self.retire(revision)]
            return self._waiting(obj, known, now)
        if deletion.orphaning:
            for revision in remaining:
                await self.set_free(revision, uid)
        await self.bundles.forget(name)
        await self.store.delete_orphans(obj, revisions, orphaning=deletion.orphaning)
        await self.gone(name)
        self._deletions.pop(uid, None)
        return Finalized(events=[UNINSTALLED])

    async def _was_orphaned(self, remaining: Sequence[Revision]) -> bool:
        """Whether the server set the revisions free already, and took its finalizer off.

        The store may not know that yet, so that each is asked for. Raises ApiError.
        """
        return any([await self.store.is_set_free(revision) for revision in remaining])

    def _waiting(self, obj: KubeObject, remaining: Sequence[Revision], now: datetime) -> Finalized:
        generation = int(metadata(obj).get("generation") or 0)
        found = removing(remaining, generation, REMOVAL_SECONDS)
        status = with_condition(obj, found, now) if found is not None else None
        return Finalized(Wait(REMOVAL_LOOK_SECONDS), status)

    async def gone(self, name: str) -> None:
        """Ends what is done for an extension that does not exist any more."""
        self.watches.stop((names.CLUSTER_EXTENSION, name))
        self.forget(name)
