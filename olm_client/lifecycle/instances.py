"""The objects of a definition, which go with it. Pure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from api.objects import GVK, KubeObject, metadata, name_of, namespace_of
from olm_runtime.plurals import counted

NAMED = 5
"""Custom resources named in a text; the rest is counted."""


class Instances(NamedTuple):
    """The objects of a definition that go with it; `fault` says why they are not known."""

    crd: str
    kind: GVK
    objects: Sequence[KubeObject] = ()
    fault: str = ""

    @property
    def held(self) -> list[KubeObject]:
        """Those with finalizers."""
        return [obj for obj in self.objects if metadata(obj).get("finalizers")]


def instances_facts(found: Instances) -> dict[str, Any]:
    """The objects of a definition as data."""
    return {
        "crd": found.crd,
        "kind": found.kind.kind,
        "count": len(found.objects),
        "withFinalizers": len(found.held),
        "examples": [_place(obj) for obj in found.objects[:NAMED]],
        **({"unknown": found.fault} if found.fault else {}),
    }


def instances_line(found: Instances) -> str:
    """As text: how many are deleted with a definition, and some of their names."""
    kind = found.kind.kind
    if found.fault:
        return f"with {found.crd} all {kind} objects; they cannot be counted: {found.fault}"
    if not found.objects:
        return f"with {found.crd} no {kind} objects: there are none"
    named = ", ".join(map(_place, found.objects[:NAMED]))
    more = f" and {len(found.objects) - NAMED} more" if len(found.objects) > NAMED else ""
    number = counted(len(found.objects), f"{kind} object")
    return f"with {found.crd} {'the' if len(found.objects) == 1 else 'all'} {number}: {named}{more}"


def _place(obj: KubeObject) -> str:
    return f"{namespace_of(obj)}/{name_of(obj)}" if namespace_of(obj) else name_of(obj)
