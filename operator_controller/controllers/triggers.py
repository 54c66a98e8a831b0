"""Which key to look at when something happens. Nothing is decided here, only rung."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from api.objects import KubeObject, ObjectKey, condition, is_true, labels_of, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.conditions import ConditionType, Reason
from olm_rollout.io.watches import OwnerKey
from olm_rollout.ownership import controller_of
from olm_runtime.controller.priority import Priority
from operator_controller.controllers.extension import FINALIZERS
from operator_controller.controllers.package_index import PackageIndex


class Add(Protocol):
    """Enqueues a key; one of which nothing is known to have changed with low priority."""

    def __call__(self, name: str, /, *, priority: Priority = Priority.NORMAL) -> None:
        """By name."""


class Statuses(Protocol):
    """Who writes our statuses."""

    def is_of_others(self, obj: KubeObject) -> bool:
        """Whether an event shows a status that somebody else wrote."""

    def forget(self, obj: KubeObject) -> None:
        """The object is gone."""


Notice = Callable[[str, OwnerKey, ObjectKey], None]
"""Told of a ClusterObjectSet in service, its owner, and an object of the owner that changed."""
Seen = tuple[Any, ...]


@dataclass(slots=True)
class Triggers:
    """Turns events into keys of extensions and of ClusterObjectSets.

    Status writes of our own ring nothing that would only look and find all done. What is listed,
    as all is after a start, and says of itself that it is done has low priority; a
    revision that is over is not.
    """

    add_extension: Add
    add_object_set: Add
    add_catalog: Add
    notice: Notice
    index: PackageIndex
    statuses: Statuses
    look_again: Callable[[KubeObject], None]
    """Has an object looked at soon whose status somebody else wrote."""
    _extensions: dict[str, Seen] = field(default_factory=dict)
    _catalogs: dict[str, tuple[Seen, Seen]] = field(default_factory=dict)
    _object_sets: dict[str, Seen] = field(default_factory=dict)
    _told: dict[str, Seen] = field(default_factory=dict)
    """Of each ClusterObjectSet what its extension was rung for last."""
    _sets_of: dict[OwnerKey, set[str]] = field(default_factory=dict)

    def extension(self, event: str, obj: KubeObject) -> None:
        """A ClusterExtension was listed, made, changed or deleted."""
        self._attend_to_status(event, obj)
        if event == "DELETED":
            self.index.remove(name_of(obj))
        else:
            self.index.update(obj)
        before, now = self._extensions.get(name_of(obj)), _wish(obj)
        rings = _changed(self._extensions, event, obj, now)
        if rings and not (event == "MODIFIED" and before and now == _held(before)):
            self.add_extension(name_of(obj), priority=_priority(event, obj))

    def object_set(self, event: str, obj: KubeObject) -> None:
        """A ClusterObjectSet; its extension looks at its conditions too."""
        self._attend_to_status(event, obj)
        owner = _owner_of(obj)
        if event == "DELETED" or _is_archived(obj):
            self._forget_set(owner, name_of(obj))
        else:
            self._sets_of.setdefault(owner, set()).add(name_of(obj))
        priority, reason = _priority(event, obj), _progress(obj).get("reason")
        is_over = reason == Reason.ARCHIVED and (event == "DELETED" or priority is Priority.LOW)
        if _changed(self._object_sets, event, obj, _wish(obj)) and not is_over:
            self.add_object_set(name_of(obj), priority=priority)
        if _changed(self._told, event, obj, _told(obj)) and owner[0] == names.CLUSTER_EXTENSION:
            if event == "DELETED" and owner[1] not in self._extensions:
                return  # it followed its extension
            self.add_extension(owner[1], priority=priority)

    def _attend_to_status(self, event: str, obj: KubeObject) -> None:
        """What is installed is read from statuses: one that is not ours is made right."""
        if event == "DELETED":
            self.statuses.forget(obj)
        elif event == "MODIFIED" and self.statuses.is_of_others(obj):
            self.look_again(obj)

    def wrote(self, obj: KubeObject) -> None:
        """A ClusterObjectSet as its extension's reconcile wrote it just now: it knows of that."""
        self._told[name_of(obj)] = _told(obj)

    def departs(self, obj: KubeObject) -> None:
        """A ClusterObjectSet, or an extension, whose own reconcile lets it go now.

        Unless something else happens to it, its end is looked at by nobody.
        """
        if obj["kind"] == names.CLUSTER_EXTENSION:
            self._extensions.pop(name_of(obj), None)
        else:
            self._forget_set(_owner_of(obj), name_of(obj))
            self._object_sets.pop(name_of(obj), None)

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
            for extension in self.index.extensions_from(labels_of(obj), dict(before[0][0])):
                self.add_extension(extension)
        if before is None or before[1] != content or event == "DELETED":
            self.add_catalog(name)

    def managed(self, owner: OwnerKey, key: ObjectKey) -> None:
        """An object that we applied was changed or deleted."""
        for name in tuple(self._sets_of.get(owner, ())):
            self.notice(name, owner, key)


def _changed(seen: dict[str, Seen], event: str, obj: KubeObject, now: Seen) -> bool:
    name = name_of(obj)
    if event == "DELETED":
        return seen.pop(name, None) is not None
    if event and seen.get(name) == now:
        return False
    seen[name] = now
    return True


def _priority(event: str, obj: KubeObject) -> Priority:
    """Normal where something happened, or is still to be done."""
    progressing = _progress(obj)
    done = progressing.get("reason") in (Reason.SUCCEEDED, Reason.ARCHIVED)
    meta = metadata(obj)
    known = progressing.get("observedGeneration") == meta.get("generation")
    settled = event == "" and done and known and "deletionTimestamp" not in meta
    return Priority.LOW if settled else Priority.NORMAL


def _progress(obj: KubeObject) -> Mapping[str, Any]:
    """The condition that says how it is getting on; empty if there is none."""
    return condition(obj, ConditionType.PROGRESSING) or {}


def _wish(obj: KubeObject) -> Seen:
    meta = metadata(obj)
    given = meta.get("annotations") or {}
    notes = tuple(sorted((k, v) for k, v in given.items() if k != names.ANNOTATION_APPLIED))
    finalizers = tuple(sorted(meta.get("finalizers") or ()))
    deleting = meta.get("deletionTimestamp")
    return meta.get("uid"), meta.get("generation"), notes, finalizers, deleting


def _held(wish: Seen) -> Seen:
    """The wish of an extension when its reconcile gave it our finalizers."""
    uid, generation, notes, finalizers, deleting = wish
    held = finalizers if deleting else tuple(sorted({*finalizers, *FINALIZERS}))
    return uid, generation, notes, held, deleting


def _told(obj: KubeObject) -> Seen:
    """What of a ClusterObjectSet its extension looks at."""
    labels = sorted(labels_of(obj).items())
    return *_wish(obj), _owner_of(obj), labels, hash(repr(obj.get("status")))


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
