"""Phases: in which order the objects of a revision are applied, and in which they are removed.

A phase starts when the one before it is done.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import orjson

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from olm_rollout.adoption import Policy

_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")

Kind = tuple[str, str]
"""Group and kind of objects, in any version."""
Identity = tuple[str, str, str, str]
"""Group, kind, namespace and name of an object, whatever the version of its API."""

_WORKLOADS = frozenset(
    {
        ("", "Pod"),
        ("", "ReplicationController"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("batch", "Job"),
    }
)


class Phase(NamedTuple):
    """Objects that are applied together; names are unique within a revision.

    `policies` are those of the objects, in their order; empty means Prevent for all.
    """

    name: str
    objects: tuple[KubeObject, ...]
    policies: tuple[Policy, ...] = ()

    def policy_of(self, index: int) -> Policy:
        """What may be done for the object at that place if it is there already."""
        return self.policies[index] if index < len(self.policies) else Policy.PREVENT


class Order(NamedTuple):
    """Which kinds are applied in which phase, phase after phase.

    `default`: the phase of the kinds that none lists.
    """

    phases: tuple[tuple[str, frozenset[Kind]], ...]
    default: str

    def phase_of(self, gvk: GVK) -> str:
        """The phase in which objects of a kind are applied."""
        kind = (gvk.group, gvk.kind)
        return next((name for name, kinds in self.phases if kind in kinds), self.default)

    def into_phases(self, objects: Iterable[KubeObject]) -> tuple[Phase, ...]:
        """Objects in phases, sorted; phases without objects are left out."""
        grouped: dict[str, list[KubeObject]] = {name: [] for name, _ in self.phases}
        for obj in objects:
            grouped[self.phase_of(gvk_of(obj))].append(obj)
        return tuple(
            Phase(name, tuple(sorted(found, key=_sort_key)))
            for name, found in grouped.items()
            if found
        )


def identity(obj: KubeObject) -> Identity:
    """What identifies an object in a cluster."""
    gvk = gvk_of(obj)
    return gvk.group, gvk.kind, namespace_of(obj), name_of(obj)


def without(objects: Iterable[KubeObject], others: Iterable[KubeObject]) -> list[KubeObject]:
    """The objects that are not among others, each once; its last form if it has several."""
    left_out = {identity(obj) for obj in others}
    found = {identity(obj): obj for obj in objects}
    return [obj for key, obj in found.items() if key not in left_out]


def removal_order(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """Phases in the order in which they are taken down: last first, definitions before workloads.

    The server deletes a definition after the last of its objects, and until then their operator has
    to run: it removes its finalizers from them, and converts those that are stored in another
    version than is read. Otherwise the garbage collector would not collect what they own.
    """
    backwards = tuple(reversed(phases))
    working = (n for n, p in enumerate(backwards) if any(map(_is_workload, p.objects)))
    start = next(working, len(backwards))
    definitions = tuple(o for p in backwards[start:] for o in p.objects if is_definition(o))
    others = (
        p._replace(objects=tuple(o for o in p.objects if not is_definition(o)), policies=())
        for p in backwards[start:]
    )
    ordered = (*backwards[:start], Phase("definitions", definitions), *others)
    return tuple(phase for phase in ordered if phase.objects)


def names_only(phases: Iterable[Phase]) -> tuple[Phase, ...]:
    """The same phases with the names of their objects alone: what it takes to remove them."""
    return tuple(
        phase._replace(objects=tuple(map(_name_only, phase.objects)), policies=())
        for phase in phases
    )


def _name_only(obj: KubeObject) -> KubeObject:
    meta = {"name": name_of(obj)}
    if namespace := namespace_of(obj):
        meta["namespace"] = namespace
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": meta}


def is_definition(obj: KubeObject) -> bool:
    """Whether an object is a CustomResourceDefinition."""
    return identity(obj)[:2] == _DEFINITION


def _is_workload(obj: KubeObject) -> bool:
    return identity(obj)[:2] in _WORKLOADS


def _sort_key(obj: KubeObject) -> tuple[GVK, str, str]:
    return gvk_of(obj), namespace_of(obj), name_of(obj)


def content_digest(phases: Sequence[Phase]) -> str:
    """A digest of phases and their objects; equal content has an equal digest."""
    digest = hashlib.sha256()
    for phase in phases:
        digest.update(phase.name.encode() + b"\n")
        for obj in phase.objects:
            digest.update(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS) + b"\n")
    return digest.hexdigest()
