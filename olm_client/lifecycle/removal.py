"""What deleting an extension takes along, and what would hold it up. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.objects import (
    KubeObject,
    gvk_of,
    is_deleting,
    key_of,
    metadata,
    name_of,
    namespace_of,
)
from api.olm.v1 import names
from olm_client.lifecycle.account_removal import AccountRemoval, account_facts, account_lines
from olm_client.lifecycle.instances import Instances, instances_facts, instances_line
from olm_client.lifecycle.obstacle import Obstacle, obstacle_facts, obstacle_lines
from olm_client.paint import Paint, plain
from olm_runtime.plurals import counted


@dataclass(frozen=True, slots=True)
class Removal:
    """What becomes of an extension's objects.

    `deleted` would be deleted, `retained` belong to another owner by now, `unknown` could not be
    read (with the reason). `after`: the account, for when all this is gone. `gone`: it is, and
    only the account is left. `fault` is why the objects of the extension are not known.
    """

    extension: KubeObject
    account_exists: bool
    deleted: Sequence[KubeObject] = ()
    retained: Sequence[KubeObject] = ()
    unknown: Sequence[tuple[KubeObject, str]] = ()
    instances: Sequence[Instances] = ()
    after: AccountRemoval = field(default_factory=AccountRemoval)
    gone: bool = False
    fault: str = ""

    @property
    def custom_resources(self) -> list[KubeObject]:
        """The objects of all definitions that go."""
        return [obj for each in self.instances for obj in each.objects]

    @property
    def account(self) -> tuple[str, str]:
        """Namespace and name of the service account; the name is empty if there is none."""
        spec = self.extension.get("spec") or {}
        return str(spec.get("namespace")), str((spec.get("serviceAccount") or {}).get("name") or "")


def obstacles(removal: Removal) -> list[Obstacle]:
    """What would block the deletion of the extension or its objects, worst first."""
    found = [_instances_held(each) for each in removal.instances if each.held]
    found += [_held(obj) for obj in removal.deleted if _foreign_finalizers(obj)]
    if _foreign_finalizers(removal.extension):
        found.append(_held(removal.extension))
    namespace, account = removal.account
    if account and not removal.account_exists:
        found.append(
            Obstacle(
                f"service account {namespace}/{account} is not there: its objects are left to the "
                "garbage collector, in no order"
            )
        )
    return found


def _instances_held(found: Instances) -> Obstacle:
    finalizers = sorted({f for obj in found.held for f in metadata(obj)["finalizers"]})
    kind = found.kind.kind
    have = counted(len(found.held), f"{kind} object has", f"{kind} objects have")
    return Obstacle(
        f"{have} finalizers ({', '.join(finalizers)}): if their operator clears them, they go "
        "before it; if it does not work, they stay",
        hint="--cascade deletes custom resources first, and the rest only when they are gone",
    )


def _held(obj: KubeObject) -> Obstacle:
    return Obstacle(
        f"{key_of(obj)} has finalizers that are not Kubernetes' own: "
        f"{', '.join(_foreign_finalizers(obj))}",
        hint="who set them has to clear them",
    )


def _foreign_finalizers(obj: KubeObject) -> list[str]:
    return [
        finalizer
        for finalizer in metadata(obj).get("finalizers") or ()
        if not finalizer.startswith(f"{names.GROUP}/") and finalizer not in _KUBERNETES_OWN
    ]


_KUBERNETES_OWN = frozenset(
    {
        "customresourcecleanup.apiextensions.k8s.io",
        "foregroundDeletion",
        "kubernetes",
        "kubernetes.io/pv-protection",
        "kubernetes.io/pvc-protection",
        "orphan",
        "service.kubernetes.io/load-balancer-cleanup",
    }
)
"""Finalizers that Kubernetes' controllers clear by themselves."""


def remains(removal: Removal) -> list[str]:
    """The commands that remove what `olm install` wrote, where the account is left alone."""
    found: dict[tuple[str, str], list[str]] = {}
    for obj in removal.after.deleted:
        resource = _RESOURCES[gvk_of(obj).kind]
        found.setdefault((resource, namespace_of(obj)), []).append(name_of(obj))
    return [
        f"kubectl delete {resource} {' '.join(named)}" + (f" --namespace {place}" if place else "")
        for (resource, place), named in found.items()
    ]


_RESOURCES = {
    "ClusterRoleBinding": "clusterrolebinding",
    "RoleBinding": "rolebinding",
    "ClusterRole": "clusterrole",
    "Role": "role",
    "ServiceAccount": "serviceaccount",
    "Namespace": "namespace",
}


def next_to_delete(objects: Sequence[KubeObject]) -> list[KubeObject]:
    """Of custom resources those whose deletion is to be asked for now: owners before what they own.

    What an owner has is left to the garbage collector and to its operator, until the owner is gone.
    """
    uids = {metadata(obj).get("uid") for obj in objects}
    free = [
        obj
        for obj in objects
        if not any(r.get("uid") in uids for r in metadata(obj).get("ownerReferences") or ())
    ]
    return [obj for obj in free or objects if not is_deleting(obj)]


def facts(removal: Removal) -> dict[str, Any]:
    """As data."""
    return {
        "extension": name_of(removal.extension),
        "objects": [_facts(obj) for obj in removal.deleted],
        "customResources": [instances_facts(each) for each in removal.instances],
        "kept": [_facts(obj) for obj in removal.retained],
        "unknown": [{**_facts(obj), "message": why} for obj, why in removal.unknown],
        "account": account_facts(removal.after),
        "obstacles": obstacle_facts(obstacles(removal)),
        **({"objectsUnknown": removal.fault} if removal.fault else {}),
    }


def _facts(obj: KubeObject) -> dict[str, Any]:
    meta = metadata(obj)
    return {
        "apiVersion": gvk_of(obj).api_version,
        "kind": gvk_of(obj).kind,
        "namespace": namespace_of(obj),
        "name": name_of(obj),
        **({"finalizers": meta["finalizers"]} if meta.get("finalizers") else {}),
    }


def lines(removal: Removal, paint: Paint = plain) -> Iterator[str]:
    """As text."""
    if removal.gone:
        yield f"{name_of(removal.extension)} is gone, but not its account"
    elif removal.fault:
        yield f"what would be deleted is not known: {removal.fault}"
    elif removal.deleted:
        yield f"would be deleted, {counted(len(removal.deleted), 'object')}:"
        yield from _indented(str(key_of(obj)) for obj in removal.deleted)
    else:
        yield "no objects would be deleted"
    for each in removal.instances:
        yield instances_line(each)
    if removal.retained:
        yield "somebody else's by now, would stay:"
        yield from _indented(str(key_of(obj)) for obj in removal.retained)
    for obj, why in removal.unknown:
        yield f"{key_of(obj)}: not known: {why}"
    yield from account_lines(removal.after)
    yield from obstacle_lines(obstacles(removal), paint)


def _indented(texts: Iterable[str]) -> Iterator[str]:
    return (f"  {text}" for text in texts)
