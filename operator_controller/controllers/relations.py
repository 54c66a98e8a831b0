"""What a revision has to do with others: its account, its extension, the other revisions."""

from dataclasses import dataclass

from api.objects import KubeObject, annotations_of, metadata
from api.olm.v1 import names
from api.olm.v1.kinds import EXTENSION
from olm_rollout.ownership import controller_of
from olm_runtime.errors import TerminalError, WaitingError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.watch.store import Store
from operator_controller.apply.owners import owner_of
from operator_controller.apply.revisions import Revision, Revisions, parse_revision
from operator_controller.apply.suspension import Suspension, suspension_of
from operator_controller.io.revisions import RevisionStore

ORPHAN_FINALIZER = "orphan"
"""The server's own, while `kubectl delete --cascade=orphan` takes it off its dependents."""

SUSPENDED_SECONDS = 1.0
GOING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Relations:
    """Asks the stores, or where that is too old the API server."""

    client: KubeClient
    extensions: Store[KubeObject]
    store: RevisionStore
    allow_controller_identity: bool

    def identity(self, revision: Revision) -> KubeClient:
        """Who applies its objects. Raises TerminalError for a set that names nobody."""
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

    def suspension(self, revision: Revision) -> Suspension | None:
        """Its own, or that of its extension. An extension that is being deleted has none."""
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return suspension_of(revision.raw)
        extension = self.extensions.get(str(controller["name"]))
        return suspension_of(extension) if extension is not None else None

    def check_not_suspended(self, revision: Revision) -> None:
        """Raises WaitingError for one that was suspended since its reconcile began."""
        if self.suspension(revision) is not None:
            raise WaitingError(f"{revision.name} is suspended", seconds=SUSPENDED_SECONDS)

    async def is_in_service(self, revision: Revision) -> bool:
        """Whether a revision is active at this moment."""
        raw = await self.store.find(revision.name, at_this_moment=True)
        now = parse_revision(raw) if raw is not None else None
        return now is not None and now.uid == revision.uid and not (now.archived or now.deleting)

    async def siblings(self, revision: Revision, *, at_this_moment: bool = False) -> Revisions:
        """The revisions of its extension; it alone if it is of none."""
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return Revisions((revision,))
        return await self.store.of_extension(str(controller["name"]), at_this_moment=at_this_moment)

    async def newer(self, revision: Revision) -> frozenset[int]:
        """The newer ones of this moment. Raises WaitingError if its owner is being deleted."""
        raw = await self.store.find(revision.name, at_this_moment=True)
        now = parse_revision(raw) if raw is not None else None
        if now is None or now.is_set_free or await self.is_owner_deleted(now):
            raise WaitingError(
                f"the owner of {revision.name} is being deleted", seconds=GOING_SECONDS
            )
        return owner_of(revision, await self.siblings(revision, at_this_moment=True)).newer

    async def is_owner_deleted(self, revision: Revision) -> bool:
        """Whether the owner of a revision's objects is being deleted, or gone."""
        owner = await self._owner(revision)
        return owner is None or is_deleted(owner)

    async def is_deleted_with_owner(self, revision: Revision) -> bool:
        """Whether the owner of a revision's objects is gone, or is deleted together with them."""
        owner = await self._owner(revision)
        return owner is None or (is_deleted(owner) and not is_orphaning(owner))

    async def _owner(self, revision: Revision) -> KubeObject | None:
        controller = controller_of(revision.raw)
        if controller is None or controller.get("kind") != names.CLUSTER_EXTENSION:
            return revision.raw
        try:
            found = await self.client.get(EXTENSION, str(controller["name"]), metadata_only=True)
        except NotFoundError:
            return None
        return found if metadata(found)["uid"] == controller["uid"] else None


def is_orphaning(raw: KubeObject) -> bool:
    """Whether an object is deleted while the server removes it as the owner of its dependents."""
    return ORPHAN_FINALIZER in (metadata(raw).get("finalizers") or ())


def is_deleted(raw: KubeObject) -> bool:
    """Whether the deletion of an object has been asked for."""
    return bool(metadata(raw).get("deletionTimestamp"))
