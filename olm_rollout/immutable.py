"""What to do where the server refuses a change that it would take as a new object.

Objects without a life of their own are deleted and created anew, if nobody else wrote into them.
Others hold data, addresses or running pods that go with them, so a person has to decide.
"""

from collections.abc import Collection

from api.objects import KubeObject, gvk_of, key_of, name_of, namespace_of
from olm_rollout.managed_fields import MAX_FIELDS, Held
from olm_runtime.errors import TerminalError

_RBAC = "rbac.authorization.k8s.io"

REPLACEABLE = frozenset(
    {
        (_RBAC, "RoleBinding"),
        (_RBAC, "ClusterRoleBinding"),
        ("", "ConfigMap"),
        ("", "Secret"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "StorageClass"),
    }
)
"""Kinds of which nothing is lost when an object is away for a moment."""

COSTS = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "all objects of its kind go with it",
    ("apps", "Deployment"): "its pods are stopped and started anew",
    ("apps", "StatefulSet"): "its pods are stopped and started anew; their volumes stay",
    ("apps", "DaemonSet"): "its pods are stopped and started anew",
    ("batch", "Job"): "it runs anew",
    ("", "Service"): "it gets another address, and a load balancer too",
    ("", "PersistentVolumeClaim"): "the data on its volume may go with it",
}
"""What is lost with an object, by kind, for the person who decides."""

_DENIALS = ("denied the request", "denied request")
"""In what admission webhooks and policies answer."""


class ImmutableError(TerminalError):
    """An object cannot become what it is to be while it exists."""


def is_denial(message: str) -> bool:
    """Whether the change was refused by a policy of the cluster, not by what the kind is."""
    return any(text in message for text in _DENIALS)


def is_replaceable(obj: KubeObject) -> bool:
    """Whether an object may be deleted and created anew without asking."""
    gvk = gvk_of(obj)
    return (gvk.group, gvk.kind) in REPLACEABLE


def immutable(obj: KubeObject, message: str, others: Collection[Held] = ()) -> ImmutableError:
    """The refusal: what the server said, and what a person can do at what cost.

    `others` is what others wrote into the object, which goes with it.
    """
    gvk = gvk_of(obj)
    resource = f"{gvk.kind.lower()}.{gvk.group}" if gvk.group else gvk.kind.lower()
    place = f" --namespace {namespace_of(obj)}" if namespace_of(obj) else ""
    what = f"{resource} {name_of(obj)}{place}"
    costs = [COSTS[gvk.group, gvk.kind]] if (gvk.group, gvk.kind) in COSTS else []
    save = ""
    if others:
        costs.append(f"what others wrote into it is lost: {_listed(others)}")
        save = f"; to write that again afterwards, keep a copy: kubectl get {what} -o yaml"
    cost = f" ({'; '.join(costs)})" if costs else ""
    return ImmutableError(
        f"{key_of(obj)} cannot be changed to what it is to be: {message}",
        hint=f"delete it, and it is made anew at once{cost}: kubectl delete {what}{save}",
    )


def _listed(others: Collection[Held]) -> str:
    shown = [f"{held.field} by {held.manager}" for held in sorted(others)[:MAX_FIELDS]]
    if len(others) > MAX_FIELDS:
        shown.append(f"and {len(others) - MAX_FIELDS} more")
    return ", ".join(shown)
