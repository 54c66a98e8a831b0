"""How a ClusterExtension ends: its revisions remove their objects, then its finalizers go.

What is still there after that follows by its owner references.
"""

from collections.abc import Callable, Sequence
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
class ExtensionDeletion:
    """What finalizing needs; `monotonic` is a clock in seconds.

    retire  has a revision go with the extension; whether it did not know of that yet
    forget  drops what the steps remember of an extension, by name
    """

    store: RevisionStore
    bundles: BundleSource
    watches: ManagedWatches
    monotonic: Callable[[], float]
    retire: Callable[[Revision], bool]
    forget: Callable[[str], None]
    _begun: dict[str, float] = field(default_factory=dict)
    """Since when the revisions of a deleted extension are taken down, by its uid."""

    async def finalize(self, obj: KubeObject, now: datetime) -> Finalized:
        """Has the revisions removed, and says what holds them; then removes the rest."""
        name, uid = name_of(obj), metadata(obj)["uid"]
        revisions = await self.store.of_extension(name)
        remaining = revisions.unfinished
        begun = self._begun.setdefault(uid, self.monotonic())
        if remaining and not may_drop_finalizers(obj, self.monotonic() - begun):
            known = [revision for revision in remaining if not self.retire(revision)]
            return self._waiting(obj, known, now)
        await self.bundles.forget(name)
        await self.store.delete_orphans(obj, revisions, orphaning=is_orphaning(obj))
        await self.gone(name)
        self._begun.pop(uid, None)
        return Finalized(events=[UNINSTALLED])

    def _waiting(self, obj: KubeObject, remaining: Sequence[Revision], now: datetime) -> Finalized:
        generation = int(metadata(obj).get("generation") or 0)
        found = removing(remaining, generation, REMOVAL_SECONDS)
        status = with_condition(obj, found, now) if found is not None else None
        return Finalized(Wait(REMOVAL_LOOK_SECONDS), status)

    async def gone(self, name: str) -> None:
        """Ends what is done for an extension that does not exist any more."""
        self.watches.stop((names.CLUSTER_EXTENSION, name))
        self.forget(name)
