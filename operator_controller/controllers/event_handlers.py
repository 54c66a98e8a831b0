"""Which requests the events of our own kinds and of managed objects enqueue. They keep no state.

Events come of a store, which also takes in the answers to our own writes. A write of our own so
leads to one more reconcile, which finds nothing to do and asks the API server nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, ObjectKey, is_deleting, is_true, labels_of, name_of
from api.olm.v1 import names
from api.olm.v1.conditions import Reason
from olm_rollout.io.watches import OwnerKey
from olm_rollout.ownership import controller_of
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.lanes import Place, Priority
from olm_runtime.watch.store import EventType, Store
from operator_controller.apply.suspension import suspension_of
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.controllers.turns import Turns, is_at_rest, progress_of

BY_CONTROLLER = "controller"
"""The index of the ClusterObjectSets by whose objects they hold."""


@dataclass(frozen=True, slots=True)
class EventHandlers:
    """Event handlers that need to know other objects than the event's.

    own_kind           has an object reconciled, also where somebody else wrote its status
    release            forgets the content of a ClusterObjectSet
    on_managed_object  is called with a ClusterObjectSet in service, its owner, and an object of
                       that owner which changed
    """

    extensions: Store[KubeObject]
    object_sets: Store[KubeObject]
    index: PackageIndex
    turns: Turns
    own_kind: Callable[[Change, Enqueue, Priority], None]
    release: Callable[[KubeObject], None]
    on_managed_object: Callable[[str, OwnerKey, ObjectKey], None]

    def __post_init__(self) -> None:
        self.object_sets.add_index(BY_CONTROLLER, lambda obj: [owner_of(obj)])

    def extension(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterExtension: it is indexed and enqueued."""
        if event.new is None:
            self.index.remove(name_of(event.object))
        else:
            self.index.update(event.new)
        self.turns.note(event)
        self.own_kind(event, enqueue, priority_of(event))

    def object_set(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterObjectSet: enqueues itself, unless its objects were removed before a start.

        What is known of one that is gone is forgotten, whoever asked for it last.
        """
        if event.type is EventType.DELETED:
            self.release(event.object)
        priority = priority_of(event)
        is_over = progress_of(event.object).get("reason") == Reason.ARCHIVED
        if not (is_over and priority is Priority.LOW):
            self.own_kind(event, enqueue, priority)

    def extension_of(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterObjectSet: enqueues its extension, which reads its status too."""
        kind, name = owner_of(event.object)
        followed = event.type is EventType.DELETED and self.extensions.get(name) is None
        if kind == names.CLUSTER_EXTENSION and not followed:
            enqueue(name, priority=priority_of(event))

    def object_sets_of(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterExtension that was suspended or resumed: enqueues its ClusterObjectSets."""
        if event.old is None or event.new is None:
            return
        if suspension_of(event.old) == suspension_of(event.new):
            return
        owner = names.CLUSTER_EXTENSION, name_of(event.new)
        for obj in self.object_sets.by_index(BY_CONTROLLER, owner):
            if progress_of(obj).get("reason") != Reason.ARCHIVED:
                enqueue(name_of(obj))

    def extensions_selecting(self, event: Change, enqueue: Enqueue) -> None:
        """A ClusterCatalog: its rank among others concerns all extensions that select it.

        A new one is none of them until its content is compared (`catalog_changes`).
        """
        if event.old is None or (event.new and _rank(event.old) == _rank(event.new)):
            return
        known = [labels_of(obj) for obj in (event.old, event.new) if obj]
        for extension in self.index.extensions_from(*known):
            enqueue(extension)

    def place_of_object_set(self, name: str) -> Place | None:
        """That of its extension in the work queue; it is begun once it has a status."""
        obj = self.object_sets.get(name)
        if obj is None:
            return None
        kind, owner = owner_of(obj)
        place = self.turns.place(owner) if kind == names.CLUSTER_EXTENSION else None
        return place and place._replace(begun=bool(progress_of(obj)))

    def managed_object(self, owner: OwnerKey, key: ObjectKey) -> None:
        """An object that we applied was changed or deleted."""
        for obj in self.object_sets.by_index(BY_CONTROLLER, owner):
            if not _is_archived(obj):
                self.on_managed_object(name_of(obj), owner, key)


def content_changed(event: Change) -> bool:
    """A predicate: whether a ClusterCatalog serves something else than before."""
    return not (event.old and event.new) or _content(event.old) != _content(event.new)


def priority_of(event: Change) -> Priority:
    """Low for what the first list says of itself is done: after a start that is nearly all."""
    obj = event.object
    settled = event.initial and is_at_rest(obj) and not is_deleting(obj)
    return Priority.LOW if settled else Priority.NORMAL


def owner_of(obj: KubeObject) -> OwnerKey:
    """Whose objects a ClusterObjectSet holds: its extension's, or its own."""
    controller = controller_of(obj)
    if controller is not None and controller.get("kind") == names.CLUSTER_EXTENSION:
        return names.CLUSTER_EXTENSION, str(controller["name"])
    return names.CLUSTER_OBJECT_SET, name_of(obj)


def _is_archived(obj: KubeObject) -> bool:
    return (obj.get("spec") or {}).get("lifecycleState") == "Archived"


def _rank(obj: KubeObject) -> tuple[Any, ...]:
    """Who selects a catalog, and how it ranks among others."""
    spec = obj.get("spec") or {}
    return labels_of(obj), spec.get("priority"), spec.get("availabilityMode")


def _content(obj: KubeObject) -> tuple[Any, ...]:
    """What a catalog serves."""
    status = obj.get("status") or {}
    return status.get("resolvedSource"), status.get("urls"), is_true(obj, "Serving")
