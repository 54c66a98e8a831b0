"""Who takes off a finalizer, and whether it still can. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from api.objects import (
    KubeObject,
    finalizers_of,
    gvk_of,
    key_of,
    labels_of,
    metadata,
    name_of,
)
from api.olm.v1 import names
from olm_client.diagnosis.facts import DEFINITION, Fact, Snapshot
from olm_client.diagnosis.programs import PROGRAMS, available, desired, is_working, parse_time
from olm_rollout.remains import INSTANCES_FINALIZER, instances_kind

KUBERNETES = frozenset(
    {
        INSTANCES_FINALIZER,
        "foregroundDeletion",
        "kubernetes",
        "kubernetes.io/pv-protection",
        "kubernetes.io/pvc-protection",
        "orphan",
        "service.kubernetes.io/load-balancer-cleanup",
    }
)
"""Finalizers that Kubernetes' own controllers take off."""
PATIENCE = timedelta(seconds=30)
"""For controllers of which nothing is known."""
PATIENCE_WITH_WORKING = timedelta(minutes=5)


class State(StrEnum):
    """What has become of a controller."""

    GONE = "gone"
    DOWN = "down"
    WORKING = "working"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who is to take a finalizer off; `description` is a sentence about it.

    `extension` installed it, `workloads` are its Deployments; both may be empty.
    """

    finalizer: str
    state: State
    description: str
    extension: str = ""
    workloads: tuple[KubeObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """An object that is being deleted, and who holds it."""

    obj: KubeObject
    holders: tuple[Holder, ...]
    age: timedelta

    @property
    def overdue(self) -> bool:
        """Whether it does not go by itself, or should have gone long ago."""
        return any(_is_overdue(holder, self.age) for holder in self.holders)

    @property
    def dead(self) -> tuple[str, ...]:
        """The finalizers that nobody takes off any more, or that should have been long ago."""
        return tuple(h.finalizer for h in self.holders if _is_overdue(h, self.age))


def _is_overdue(holder: Holder, age: timedelta) -> bool:
    match holder.state:
        case State.GONE | State.DOWN:
            return True
        case State.UNKNOWN:
            return age > PATIENCE
        case State.WORKING:
            return age > PATIENCE_WITH_WORKING


def held_objects(snapshot: Snapshot) -> list[Held]:
    """What is being deleted and has finalizers of controllers that are not Kubernetes' own."""
    facts = (Fact.EXTENSIONS, Fact.CATALOGS, Fact.OBJECT_SETS, Fact.STUCK, Fact.DEFINITIONS)
    deleting = {
        key_of(obj): obj
        for fact in facts
        for obj in snapshot.all(fact)
        if metadata(obj).get("deletionTimestamp")
    }
    found = (_held(snapshot, obj) for obj in deleting.values())
    return [held for held in found if held.holders]


def _held(snapshot: Snapshot, obj: KubeObject) -> Held:
    foreign = [each for each in finalizers_of(obj) if each not in KUBERNETES]
    holders = tuple(_holder(snapshot, obj, each) for each in foreign)
    return Held(obj, holders, age_of(snapshot, obj))


def age_of(snapshot: Snapshot, obj: KubeObject) -> timedelta:
    """Since when it is being deleted."""
    begun = parse_time(metadata(obj).get("deletionTimestamp"))
    return snapshot.now - begun if begun is not None else timedelta()


def _holder(snapshot: Snapshot, obj: KubeObject, finalizer: str) -> Holder:
    program = next((each for each in PROGRAMS if finalizer in each.finalizers), None)
    if program is not None:
        if is_working(snapshot, program):
            return Holder(finalizer, State.WORKING, f"{program.name} takes it off, and it runs")
        return Holder(finalizer, State.GONE, f"{program.name} takes it off, and it does not run")
    extension = _extension_of(snapshot, obj)
    if not extension:
        return Holder(finalizer, State.UNKNOWN, _set_by(obj, finalizer))
    return _of_extension(snapshot, extension, finalizer)


def _of_extension(snapshot: Snapshot, extension: str, finalizer: str) -> Holder:
    kind = names.CLUSTER_EXTENSION
    workloads = tuple(snapshot.owned_by(Fact.DEPLOYMENTS, kind, extension))
    if any(map(available, workloads)):
        working = [each for each in workloads if available(each)]
        text = f"its controller is most likely {_named(working)}, which works"
        return Holder(finalizer, State.WORKING, text, extension, tuple(working))
    if workloads:
        pods = sum(map(desired, workloads))
        text = f"its controller is most likely {_named(workloads)}, with 0 of {pods} pods working"
        return Holder(finalizer, State.DOWN, text, extension, workloads)
    text = f"its controller is gone: no Deployment of extension {extension} is there"
    return Holder(finalizer, State.GONE, text, extension)


def _named(objects: Sequence[KubeObject]) -> str:
    return ", ".join(str(key_of(obj)) for obj in objects)


def _extension_of(snapshot: Snapshot, obj: KubeObject) -> str:
    """The extension that installed an object, or else the definition of its kind."""
    for each in (obj, definition_of(snapshot, obj)):
        labels = labels_of(each) if each is not None else {}
        if labels.get(names.LABEL_OWNER_KIND) == names.CLUSTER_EXTENSION:
            return labels.get(names.LABEL_OWNER_NAME, "")
    return ""


def definition_of(snapshot: Snapshot, obj: KubeObject) -> KubeObject | None:
    """The definition of a custom resource's kind; None for other kinds."""
    gvk = gvk_of(obj)
    for definition in snapshot.all(Fact.DEFINITIONS, DEFINITION):
        kind = instances_kind(definition)
        if kind is not None and (kind.group, kind.kind) == (gvk.group, gvk.kind):
            return definition
    return None


def _set_by(obj: KubeObject, finalizer: str) -> str:
    managers = sorted(set(_setters(obj, finalizer)))
    if managers:
        return f"it was set by {', '.join(managers)}; whether that still runs is not known"
    return "who set it is not known"


def _setters(obj: KubeObject, finalizer: str) -> Iterator[str]:
    """The field managers of a finalizer, and when each wrote last."""
    for entry in metadata(obj).get("managedFields") or ():
        fields = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:finalizers") or {}
        if f'v:"{finalizer}"' in fields:
            yield f"field manager {entry.get('manager')} at {entry.get('time')}"


def name_list(objects: Sequence[KubeObject], most: int = 3) -> str:
    """Some objects by name."""
    shown = ", ".join(map(name_of, objects[:most]))
    return f"{shown} and {len(objects) - most} more" if len(objects) > most else shown
