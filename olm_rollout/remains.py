"""Why an object that is being deleted is still there, and what a person can do about it.

The server keeps a deleted object until the last of its finalizers is gone. Of definitions and
namespaces the server itself removes them, and has conditions that say what it waits for.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from api.objects import GVK, KubeObject, condition, gvk_of, key_of, metadata, name_of, namespace_of

MAX_NAMED = 5
"""Custom resources that a text names before it only counts the rest."""
INSTANCES_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"

_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_NAMESPACE = ("", "Namespace")
_NAMESPACE_PROBLEMS = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
)


def instances_kind(live: KubeObject) -> GVK | None:
    """The kind whose objects keep a definition from going; None for any other object."""
    gvk = gvk_of(live)
    if (gvk.group, gvk.kind) != _DEFINITION:
        return None
    spec = live.get("spec") or {}
    stored = next((v["name"] for v in spec.get("versions") or () if v.get("storage")), "")
    return GVK(str(spec.get("group")), str(stored), str((spec.get("names") or {}).get("kind")))


def was_given_up(live: KubeObject) -> bool:
    """Whether the server failed to delete the objects of a definition, and may not try again.

    It enqueues the definition again only for an event. Its own write of this condition counts as
    one that needs no work, so for minutes nothing happens until the definition changes otherwise.
    """
    found = condition(live, "Terminating")
    return found is not None and found.get("reason") == "InstanceDeletionFailed"


def obstacle(live: KubeObject, instances: Iterable[KubeObject] = ()) -> str:
    """What an object that is being deleted waits for; `instances` are those of a definition."""
    gvk = gvk_of(live)
    begin = f"{key_of(live)} is being deleted and waits for "
    if (gvk.group, gvk.kind) == _NAMESPACE and _namespace_problems(live):
        return begin + "what is in it: " + "; ".join(_namespace_problems(live))
    finalizers = list(metadata(live).get("finalizers") or ())
    if INSTANCES_FINALIZER in finalizers:
        return begin + _instances_text(live, list(instances))
    if finalizers:
        remedy = _without_finalizers(gvk.kind.lower(), gvk.group, live)
        return f"{begin}the finalizers {', '.join(finalizers)}\nhint: {_HINT}: {remedy}"
    return begin + "its period of grace"


_HINT = "who set them has to act; if nobody does any more"


def _namespace_problems(live: KubeObject) -> list[str]:
    found = (condition(live, kind) for kind in _NAMESPACE_PROBLEMS)
    return [str(c.get("message")) for c in found if c and c.get("status") == "True"]


def _instances_text(live: KubeObject, instances: Sequence[KubeObject]) -> str:
    stuck = [obj for obj in instances if metadata(obj).get("finalizers")]
    terminating: dict[str, Any] = condition(live, "Terminating") or {}
    if not stuck:
        return f"its objects to go: {terminating.get('message') or 'the server is at it'}"
    names = [
        f"{key_of(obj)} (finalizers {', '.join(metadata(obj)['finalizers'])})"
        for obj in stuck[:MAX_NAMED]
    ]
    if len(stuck) > MAX_NAMED:
        names.append(f"{len(stuck) - MAX_NAMED} more")
    plural = str((live.get("spec") or {}).get("names", {}).get("plural"))
    remedy = _without_finalizers(plural, gvk_of(stuck[0]).group, stuck[0])
    return f"{', '.join(names)}\nhint: {_HINT}: {remedy}"


def _without_finalizers(resource: str, group: str, obj: KubeObject) -> str:
    """The command that takes the finalizers off an object."""
    kind = f"{resource}.{group}" if group else resource
    place = f" --namespace {namespace_of(obj)}" if namespace_of(obj) else ""
    patch = """--type=merge --patch '{"metadata":{"finalizers":null}}'"""
    return f"kubectl patch {kind} {name_of(obj)}{place} {patch}"
