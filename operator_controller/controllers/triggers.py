"""Which key to look at when something happens. Nothing is decided here, only rung."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from api.v1 import names
from olm_shared.kube_object import KubeObject, ObjectKey, is_true, labels_of, metadata, name_of
from operator_controller.apply.ownership import controller_of
from operator_controller.controllers.wants import Wants
from operator_controller.io.watches import OwnerKey

Add = Callable[[str], None]
Seen = tuple[Any, ...]


@dataclass(slots=True)
class Triggers:
    """Turns events into keys of extensions and of ClusterObjectSets.

    Status writes of our own ring nothing that would only look and find all done.
    """

    add_extension: Add
    add_object_set: Add
    add_catalog: Add
    wants: Wants
    _extensions: dict[str, Seen] = field(default_factory=dict)
    _catalogs: dict[str, tuple[Seen, Seen]] = field(default_factory=dict)
    _object_sets: dict[str, Seen] = field(default_factory=dict)
    _told: dict[str, Seen] = field(default_factory=dict)
    """Of each ClusterObjectSet what its extension was rung for last."""
    _sets_of: dict[OwnerKey, set[str]] = field(default_factory=dict)

    def extension(self, event: str, obj: KubeObject) -> None:
        """A ClusterExtension was listed, made, changed or deleted."""
        if event == "DELETED":
            self.wants.drop(name_of(obj))
        else:
            self.wants.note(obj)
        if _changed(self._extensions, event, obj, _wish(obj)):
            self.add_extension(name_of(obj))

    def object_set(self, event: str, obj: KubeObject) -> None:
        """A ClusterObjectSet; its extension looks at its conditions too."""
        owner = _owner_of(obj)
        if event == "DELETED" or _is_archived(obj):
            self._forget_set(owner, name_of(obj))
        else:
            self._sets_of.setdefault(owner, set()).add(name_of(obj))
        if _changed(self._object_sets, event, obj, _wish(obj)):
            self.add_object_set(name_of(obj))
        told = *_wish(obj), owner, sorted(labels_of(obj).items()), hash(repr(obj.get("status")))
        if _changed(self._told, event, obj, told) and owner[0] == names.CLUSTER_EXTENSION:
            self.add_extension(owner[1])

    def _forget_set(self, owner: OwnerKey, name: str) -> None:
        """History does not care for changed objects; what has no sets costs no memory."""
        named = self._sets_of.get(owner, set())
        named.discard(name)
        if not named:
            self._sets_of.pop(owner, None)

    def catalog(self, event: str, obj: KubeObject) -> None:
        """A ClusterCatalog: its rank concerns all who select it, its content not all of them.

        One that is listed rings too: it may have been made while nobody could watch.
        """
        name, rank, content = name_of(obj), _rank(obj), _content(obj)
        before = self._catalogs.get(name)
        if event == "DELETED":
            self._catalogs.pop(name, None)
        else:
            self._catalogs[name] = rank, content
        if before and (before[0] != rank or event == "DELETED"):
            for extension in self.wants.extensions_from(labels_of(obj), dict(before[0][0])):
                self.add_extension(extension)
        if before is None or before[1] != content or event == "DELETED":
            self.add_catalog(name)

    def managed(self, owner: OwnerKey, _: ObjectKey) -> None:
        """An object that we applied was changed or deleted."""
        for name in self._sets_of.get(owner, ()):
            self.add_object_set(name)


def _changed(seen: dict[str, Seen], event: str, obj: KubeObject, now: Seen) -> bool:
    name = name_of(obj)
    if event == "DELETED":
        seen.pop(name, None)
        return True
    if event and seen.get(name) == now:
        return False
    seen[name] = now
    return True


def _wish(obj: KubeObject) -> Seen:
    meta = metadata(obj)
    given = meta.get("annotations") or {}
    notes = tuple(sorted((k, v) for k, v in given.items() if k != names.ANNOTATION_APPLIED))
    finalizers = tuple(meta.get("finalizers") or ())
    deleting = meta.get("deletionTimestamp")
    return meta.get("uid"), meta.get("generation"), notes, finalizers, deleting


def _is_archived(obj: KubeObject) -> bool:
    return (obj.get("spec") or {}).get("lifecycleState") == "Archived"


def _rank(obj: KubeObject) -> Seen:
    """Who selects a catalog, and how it ranks among others."""
    spec = obj.get("spec") or {}
    labels = tuple(sorted(labels_of(obj).items()))
    return labels, spec.get("priority"), spec.get("availabilityMode")


def _content(obj: KubeObject) -> Seen:
    """What a catalog serves."""
    status = obj.get("status") or {}
    serving = is_true(obj, "Serving")
    return repr(status.get("resolvedSource")), repr(status.get("urls")), serving


def _owner_of(obj: KubeObject) -> OwnerKey:
    controller = controller_of(obj)
    if controller is not None and controller.get("kind") == names.CLUSTER_EXTENSION:
        return names.CLUSTER_EXTENSION, str(controller["name"])
    return names.CLUSTER_OBJECT_SET, name_of(obj)
