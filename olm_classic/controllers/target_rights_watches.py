"""What has the rights of an operator in the namespaces of its group looked at again."""

from collections.abc import Iterable

from api.objects import KubeObject, labels_of, metadata, name_of, namespace_of
from olm_classic.controllers.known_copies import COPIES
from olm_classic.csv.owner import owner_of
from olm_classic.csv.target_rights import Asked, Place, asked_by
from olm_classic.io.account_rights import OWNER, RightsStores, subjects_of
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import LABEL_COPIED_FROM
from olm_classic.selections import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
)
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Watch
from olm_runtime.controller.requests import Request, request_for, request_of
from olm_runtime.lanes import Priority
from olm_runtime.watch.store import Key

NAME = "target-rights"
SOURCE = "rights-source"
"""The index of copies by namespace and name of what they are copies of."""

_USER = "system:serviceaccount:"
_GROUP = "system:serviceaccounts"
_UNKNOWN = Asked(Place.UNKNOWN)


class RightsWatches:
    """What ClusterServiceVersions ask for, and who is concerned by a change.

    What they ask for is noted, for they are large and their copies are many.
    """

    def __init__(self, manager: Manager) -> None:
        self.copies = manager.selected(COPIES)
        self.rights = RightsStores(
            roles=manager.selected(ROLES),
            bindings=manager.selected(ROLE_BINDINGS),
            cluster_roles=manager.selected(CLUSTER_ROLES),
            cluster_bindings=manager.selected(CLUSTER_ROLE_BINDINGS),
        )
        self.copies.add_index(SOURCE, _sources)
        for store in (self.rights.roles, self.rights.bindings):
            store.add_index(OWNER, owner_of)
        self._asked: dict[Key, Asked] = {}

    def all(self) -> list[Watch]:
        """The watches."""
        return [
            Watch(CLUSTER_SERVICE_VERSION, self._csv_changed),
            Watch(COPIES, self._copy_changed),
            Watch(ROLES, self._role_changed),
            Watch(CLUSTER_ROLES, self._role_changed),
            Watch(ROLE_BINDINGS, self._binding_changed),
            Watch(CLUSTER_ROLE_BINDINGS, self._binding_changed),
        ]

    def asked(self, csv: Key) -> Asked:
        """What one asks for; unknown of one that does not exist."""
        return self._asked.get(csv, _UNKNOWN)

    def _csv_changed(self, event: Change, enqueue: Enqueue) -> None:
        before, now = self.asked(event.key), _UNKNOWN
        if event.new is None:
            self._asked.pop(event.key, None)
        else:
            now = self._asked[event.key] = asked_by(event.new)
        if before != now:
            priority = Priority.LOW if event.initial else Priority.NORMAL
            for request in self._requests(event.key):
                enqueue(request, priority=priority)

    def _copy_changed(self, event: Change, enqueue: Enqueue) -> None:
        if _identity(event.old) == _identity(event.new):
            return
        for source in _sources(event.object):
            if self.asked(source).place is Place.TARGETS:
                enqueue(request_of(event.object))

    def _role_changed(self, event: Change, enqueue: Enqueue) -> None:
        if not event.initial:
            subjects = self.rights.subjects_of_role(event.object)
            self._enqueue(event, subjects, enqueue)

    def _binding_changed(self, event: Change, enqueue: Enqueue) -> None:
        if not event.initial:
            versions = [obj for obj in (event.old, event.new) if obj is not None]
            subjects = {subject for obj in versions for subject in subjects_of(obj)}
            self._enqueue(event, subjects, enqueue)

    def _enqueue(
        self, event: Change, subjects: Iterable[tuple[str, str, str]], enqueue: Enqueue
    ) -> None:
        """Who owns the object, and whose accounts are among the subjects."""
        versions = [obj for obj in (event.old, event.new) if obj is not None]
        found = [request for obj in versions for request in self._owners(obj)]
        place = namespace_of(event.object)
        found += [
            request
            for subject in subjects
            for csv, asked in self._asked.items()
            if _is_of(subject, csv[0], asked)
            for request in self._requests(csv, place)
        ]
        for request in dict.fromkeys(found):
            enqueue(request)

    def _owners(self, obj: KubeObject) -> list[Request]:
        if LABEL_COPIED_FROM in labels_of(obj):
            return [request_for(name, namespace) for namespace, name in owner_of(obj)]
        return [request for csv in owner_of(obj) for request in self._requests(csv)]

    def _requests(self, csv: Key, place: str = "") -> list[Request]:
        """A ClusterServiceVersion and its copies; only the copy in `place`, if that is given."""
        own = request_for(csv[1], csv[0])
        if self.asked(csv).place is not Place.TARGETS:
            return [own]
        if place and place != csv[0]:
            return [request_for(csv[1], place)]
        return [own, *(request_of(copy) for copy in self.copies.by_index(SOURCE, csv))]


def _sources(copy: KubeObject) -> list[Key]:
    return [(labels_of(copy).get(LABEL_COPIED_FROM, ""), name_of(copy))]


def _identity(copy: KubeObject | None) -> object:
    if copy is None:
        return None
    return metadata(copy).get("uid"), metadata(copy).get("deletionTimestamp"), _sources(copy)


def _is_of(subject: tuple[str, str, str], namespace: str, asked: Asked) -> bool:
    """Whether a subject is, or has among it, an account that permissions are asked for."""
    kind, where, name = subject
    if kind == "ServiceAccount":
        return where == namespace and name in asked.accounts
    if kind == "User":
        return name in {f"{_USER}{namespace}:{each}" for each in asked.accounts}
    return name in {_GROUP, f"{_GROUP}:{namespace}", "system:authenticated"}
