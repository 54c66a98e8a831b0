"""Service accounts, roles and bindings from a bundle's permissions."""

from collections.abc import Iterator
from typing import Any

from api.objects import KubeObject
from olm_content.bundle.model import Permission
from olm_content.render.context import Context
from olm_content.render.names import unique_name

RBAC_GROUP = "rbac.authorization.k8s.io"
RBAC_API = f"{RBAC_GROUP}/v1"

WATCH_NAMESPACES: dict[str, Any] = {
    "verbs": ["get", "list", "watch"],
    "apiGroups": [""],
    "resources": ["namespaces"],
}
"""What an operator needs besides its permissions once these count in every namespace."""


def service_accounts(context: Context) -> Iterator[KubeObject]:
    """Every account that a permission names; `default` is there without our doing."""
    csv = context.bundle.csv
    names = {permission.account_name for permission in csv.permissions + csv.cluster_permissions}
    for name in sorted(names - {"default"}):
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": context.install_namespace},
        }


def namespaced_permissions(context: Context) -> Iterator[KubeObject]:
    """A Role and its binding per permission in each watched namespace."""
    if context.watches_all:
        return
    for namespace in context.target_namespaces:
        for permission in context.bundle.csv.permissions:
            yield from _role_and_binding(context, permission, namespace)


def cluster_permissions(context: Context) -> Iterator[KubeObject]:
    """A ClusterRole and its binding per cluster permission.

    An operator that watches everything needs its namespaced permissions everywhere too.
    """
    csv = context.bundle.csv
    promoted = tuple(map(_promoted, csv.permissions)) if context.watches_all else ()
    for permission in csv.cluster_permissions + promoted:
        yield from _role_and_binding(context, permission, None)


def _promoted(permission: Permission) -> Permission:
    rules = (*(permission.rules or ()), WATCH_NAMESPACES)
    return Permission(permission.service_account, rules)


def _role_and_binding(
    context: Context, permission: Permission, namespace: str | None
) -> tuple[KubeObject, KubeObject]:
    prefix = "Cluster" if namespace is None else ""
    account = permission.account_name
    metadata = {"name": unique_name(f"{context.bundle.csv.name}-{account}", permission)}
    if namespace is not None:
        metadata["namespace"] = namespace
    role: KubeObject = {
        "apiVersion": RBAC_API,
        "kind": f"{prefix}Role",
        "metadata": metadata,
        "rules": list(permission.rules or ()),
    }
    binding: KubeObject = {
        "apiVersion": RBAC_API,
        "kind": f"{prefix}RoleBinding",
        "metadata": dict(metadata),
        "roleRef": {
            "apiGroup": RBAC_GROUP,
            "kind": f"{prefix}Role",
            "name": metadata["name"],
        },
        "subjects": [
            {"kind": "ServiceAccount", "name": account, "namespace": context.install_namespace}
        ],
    }
    return role, binding
