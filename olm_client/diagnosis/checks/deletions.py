"""Deletions that do not end: who holds them, whether it still works, what the options are. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from api.objects import (
    KubeObject,
    condition,
    finalizers_of,
    gvk_of,
    is_deleting,
    key_of,
    labels_of,
    name_of,
    namespace_of,
)
from api.olm.v1 import names
from api.olm.v1.kinds import EXTENSION, OBJECT_SET
from olm_client.diagnosis.commands import delete, resource_of, without_finalizers
from olm_client.diagnosis.facts import DEFINITION, NAMESPACE, Fact, Snapshot
from olm_client.diagnosis.finalizers import (
    PATIENCE,
    Held,
    Holder,
    State,
    age_of,
    definition_of,
    held_objects,
    name_list,
)
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.words import counted

_DISCOVERY = ("NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure")


def deletions(snapshot: Snapshot) -> Iterator[Finding]:
    """Objects that are held by finalizers, and what waits for them."""
    overdue = [held for held in held_objects(snapshot) if held.overdue]
    for group in _grouped(overdue):
        yield _held_finding(snapshot, group)
    reported = {key_of(held.obj) for held in overdue}
    for container in _containers(snapshot):
        if key_of(container) not in reported:
            yield from _waiting(snapshot, container, overdue)


def deletions_well(_: Snapshot) -> str:
    """In a line."""
    return "no deletion is stuck"


def _grouped(overdue: Iterable[Held]) -> Iterator[list[Held]]:
    """Objects of one kind with the same finalizers and holders together."""

    def alike(held: Held) -> tuple[str, ...]:
        dead = (f"{holder.finalizer} {holder.description}" for holder in held.holders)
        return (str(gvk_of(held.obj)), *finalizers_of(held.obj), *dead)

    for _, group in groupby(sorted(overdue, key=alike), key=alike):
        yield list(group)


def _held_finding(snapshot: Snapshot, group: Sequence[Held]) -> Finding:
    first, objects = group[0], [held.obj for held in group]
    dead = [holder for holder in first.holders if holder.finalizer in first.dead]
    finalizers = ", ".join(holder.finalizer for holder in dead)
    noun = "finalizer" if len(dead) == 1 else "finalizers"
    if len(objects) == 1:
        message = f"{key_of(first.obj)} is being deleted and keeps the {noun} {finalizers}"
    else:
        message = (
            f"{len(objects)} {gvk_of(first.obj).kind} objects are being deleted and keep the "
            f"{noun} {finalizers}: {name_list(objects)}"
        )
    works = all(holder.state is State.WORKING for holder in dead)
    return Finding(
        Severity.WARNING if works else Severity.ERROR,
        message,
        key_of(first.obj),
        why="; ".join(dict.fromkeys(holder.description for holder in dead)),
        remedies=(*_revivals(snapshot, dead), _release(group)),
    )


def _release(group: Sequence[Held]) -> Remedy:
    return Remedy(
        "let it go as it is",
        without_finalizers([held.obj for held in group], group[0].dead),
        loses="what the controller would have cleaned up outside the object stays",
    )


def _revivals(snapshot: Snapshot, holders: Iterable[Holder]) -> Iterator[Remedy]:
    """Ways to have the controller take its finalizer off itself."""
    for holder in holders:
        match holder.state:
            case State.WORKING | State.DOWN if holder.workloads:
                yield Remedy("see why its controller does not", tuple(_look(holder.workloads)))
            case State.GONE if holder.extension and _exists(snapshot, holder.extension):
                yield Remedy(
                    "see whether its extension can be repaired", (f"olm status {holder.extension}",)
                )
            case _:
                pass


def _look(workloads: Iterable[KubeObject]) -> Iterator[str]:
    for each in workloads:
        place = f"--namespace {namespace_of(each)}"
        yield f"kubectl {place} describe deployment {name_of(each)}"
        yield f"kubectl {place} logs deployment/{name_of(each)} --tail=50"


def _exists(snapshot: Snapshot, extension: str) -> bool:
    found = snapshot.find(Fact.EXTENSIONS, EXTENSION, extension)
    return found is not None and not is_deleting(found)


def _containers(snapshot: Snapshot) -> Iterator[KubeObject]:
    """What is being deleted and goes when other objects have gone, innermost first."""
    facts = (Fact.DEFINITIONS, Fact.NAMESPACES, Fact.OBJECT_SETS, Fact.EXTENSIONS)
    return (obj for fact in facts for obj in snapshot.all(fact) if is_deleting(obj))


def _waiting(
    snapshot: Snapshot, container: KubeObject, overdue: Sequence[Held]
) -> Iterator[Finding]:
    inside = [held for held in overdue if _is_inside(snapshot, held.obj, container)]
    key = key_of(container)
    if inside:
        objects = [held.obj for held in inside]
        yield Finding(
            Severity.ERROR,
            f"{key} is being deleted and waits for {_counted(objects)}",
            key,
            why=f"{name_list(objects)}: {inside[0].holders[0].description}",
            remedies=tuple(map(_release, _grouped(inside))),
        )
    elif gvk_of(container) == NAMESPACE and _undiscovered(container):
        yield _undiscoverable(snapshot, container)
    elif gvk_of(container) == DEFINITION and name_of(container) in snapshot.unreadable:
        yield Finding(
            Severity.ERROR,
            f"{key} is being deleted, and its objects cannot be read",
            key,
            why=snapshot.unreadable[name_of(container)],
            remedies=(Remedy("see the check conversions", ("olm doctor --check conversions",)),),
        )
    elif age_of(snapshot, container) > PATIENCE and gvk_of(container) in (NAMESPACE, DEFINITION):
        yield _unexplained(container)


def _counted(objects: Sequence[KubeObject]) -> str:
    kinds = sorted({gvk_of(obj).kind for obj in objects})
    counts = ((kind, sum(gvk_of(obj).kind == kind for obj in objects)) for kind in kinds)
    return ", ".join(counted(number, f"{kind} object") for kind, number in counts)


def _is_inside(snapshot: Snapshot, obj: KubeObject, container: KubeObject) -> bool:
    """Whether a deletion has to wait for an object."""
    gvk = gvk_of(container)
    definition = definition_of(snapshot, obj)
    if gvk == NAMESPACE:
        return namespace_of(obj) == name_of(container)
    if gvk == DEFINITION:
        return definition is not None and name_of(definition) == name_of(container)
    owner = name_of(container)
    if gvk == OBJECT_SET:
        owner = labels_of(container).get(names.LABEL_OWNER_NAME, "")
    wanted = {
        names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION,
        names.LABEL_OWNER_NAME: names.label_value(owner),
    }
    found = [obj] if definition is None else [obj, definition]
    return any(wanted.items() <= labels_of(each).items() for each in found)


def _undiscovered(namespace: KubeObject) -> str:
    found = (condition(namespace, kind) or {} for kind in _DISCOVERY)
    return "; ".join(str(c.get("message")) for c in found if c.get("status") == "True")


def _undiscoverable(snapshot: Snapshot, namespace: KubeObject) -> Finding:
    broken = [
        obj
        for obj in snapshot.all(Fact.API_SERVICES)
        if (condition(obj, "Available") or {}).get("status") == "False"
    ]
    named = f": {name_list(broken)}" if broken else ""
    return Finding(
        Severity.ERROR,
        f"{key_of(namespace)} is being deleted, and what is in it cannot be found out: "
        f"an API service has no backend{named}",
        key_of(namespace),
        why=_undiscovered(namespace),
        remedies=(
            Remedy(
                "take the API service away whose server is gone",
                tuple(map(delete, broken)) or ("kubectl get apiservices",),
                loses="its API is not served until its server is installed again" if broken else "",
            ),
        ),
    )


def _unexplained(container: KubeObject) -> Finding:
    found = (container.get("status") or {}).get("conditions") or ()
    messages = [str(c.get("message")) for c in found if "Terminating" in str(c.get("type"))]
    messages += [
        str(c.get("message"))
        for c in found
        if str(c.get("type")).startswith("Namespace") and c.get("status") == "True"
    ]
    what = f"{resource_of(gvk_of(container))} {name_of(container)}"
    return Finding(
        Severity.WARNING,
        f"{key_of(container)} is being deleted for long",
        key_of(container),
        why="; ".join(messages) or "the server does not say why",
        remedies=(Remedy("see what it waits for", (f"kubectl get {what} --output=yaml",)),),
    )
