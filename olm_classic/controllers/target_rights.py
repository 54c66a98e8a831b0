"""The controller of the rights of operators in the namespaces that their groups select.

A request is a ClusterServiceVersion, or a copy of one: an operator for all namespaces gets cluster
roles once, one for others gets Roles next to each of its copies, which own them.
"""

import logging
from collections.abc import Iterable, Sequence

from api.objects import KubeObject, is_deleting, labels_of, name_of, namespace_of
from olm_classic.controllers.target_rights_watches import NAME, RightsWatches
from olm_classic.csv.owner import owner_of
from olm_classic.csv.target_rights import (
    Asked,
    Place,
    are_granted,
    cluster_wide,
    in_namespace_of,
)
from olm_classic.io.account_rights import OWNER
from olm_classic.io.roles import Roles
from olm_classic.names import LABEL_COPIED_FROM, OPERATOR_FIELD_MANAGER
from olm_classic.selections import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from olm_content.rights.authority import Account, Authority, authority_of
from olm_runtime.controller.manager import Manager, Registration
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.outcome import Blocked, Done, Failed, Outcome
from olm_runtime.watch.store import Key

log = logging.getLogger(__name__)


class TargetRights:
    """Has the Roles and bindings that operators need where they work."""

    def __init__(self, manager: Manager) -> None:
        self._watches = RightsWatches(manager)
        self._rights = self._watches.rights
        self._copies = self._watches.copies
        selections = (ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS)
        self._objects = Roles(
            manager.client,
            {each.gvk: manager.selected(each) for each in selections},
            field_manager=OPERATOR_FIELD_MANAGER,
        )

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        return Registration(name=NAME, reconciler=self, watches=self._watches.all())

    async def reconcile(self, request: Request) -> Outcome:
        """Gives one its rights, in one place. Raises ApiError, NotSyncedError."""
        self._objects.check_synced()
        self._copies.check_synced()
        namespace, name = namespaced_name(request)
        copy = self._copies.get(name, namespace)
        if copy is not None:
            return await self._in_target(copy)
        csv = (namespace, name)
        asked = self._watches.asked(csv)
        if asked.place is Place.EVERYWHERE:
            return await self._everywhere(csv, asked)
        if asked.place is not Place.UNKNOWN:
            await self._nowhere(csv)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """What an operator lacks shows in its own log."""
        log.warning("rights of %s: %s", request, failed.message)

    async def _everywhere(self, csv: Key, asked: Asked) -> Outcome:
        """Cluster roles; those that there are stay as they are."""
        if self._granted(csv, asked, ""):
            return Done()
        own = self._owned(csv)
        for obj in own:
            await self._objects.ensure_there(cluster_wide(obj))
        return _ended(own)

    async def _nowhere(self, csv: Key) -> None:
        """No cluster roles any more."""
        for obj in map(cluster_wide, self._owned(csv)):
            found = self._objects.find(obj)
            if found is not None and csv in owner_of(found):
                await self._objects.remove(found)

    async def _in_target(self, copy: KubeObject) -> Outcome:
        """Roles in the namespace of a copy. They go with it."""
        csv = (labels_of(copy)[LABEL_COPIED_FROM], name_of(copy))
        asked = self._watches.asked(csv)
        if asked.place is not Place.TARGETS or is_deleting(copy):
            return Done()
        own = self._owned(csv)
        wanted = [in_namespace_of(copy, obj) for obj in own]
        present = self._owned((namespace_of(copy), name_of(copy)))
        for obj in _beyond(present, wanted):
            await self._objects.remove(obj)
        if not present and self._granted(csv, asked, namespace_of(copy)):
            return Done()
        for obj in wanted:
            if obj["kind"] == ROLES.gvk.kind:
                await self._objects.ensure(obj)
            else:
                await self._objects.ensure_there(obj)
        return _ended(own) if asked.permissions else Done()

    def _granted(self, csv: Key, asked: Asked, place: str) -> bool:
        held = {name: self._held(Account(csv[0], name)) for name in asked.accounts}
        return are_granted(asked.permissions, held, place)

    def _held(self, account: Account) -> Authority:
        return authority_of(account, self._rights.of(account))

    def _owned(self, csv: Key) -> list[KubeObject]:
        """The Roles and RoleBindings in the namespace of a ClusterServiceVersion that are its."""
        stores = (self._rights.roles, self._rights.bindings)
        found = [obj for store in stores for obj in store.by_index(OWNER, csv)]
        return [obj for obj in found if namespace_of(obj) == csv[0] and not is_deleting(obj)]


def _beyond(present: Iterable[KubeObject], wanted: Sequence[KubeObject]) -> list[KubeObject]:
    """What was copied once and is not to be there any more."""
    names = {(obj["kind"], name_of(obj)) for obj in wanted}
    copied = [obj for obj in present if LABEL_COPIED_FROM in labels_of(obj)]
    return [obj for obj in copied if (obj["kind"], name_of(obj)) not in names]


def _ended(own: Iterable[KubeObject]) -> Outcome:
    """Rights that nobody has written in the operator's own namespace cannot be repeated."""
    kinds = {obj["kind"] for obj in own}
    for selection, what in ((ROLES, "roles"), (ROLE_BINDINGS, "rolebindings")):
        if selection.gvk.kind not in kinds:
            return Blocked("NoOwnedObjects", f"no owned {what} found")
    return Done()
