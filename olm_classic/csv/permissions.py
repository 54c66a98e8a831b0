"""Service accounts, roles and bindings from the permissions of a ClusterServiceVersion.

Names carry a hash of owner and permission, labels one of what the object says: by these the
objects of a plan are told from those of the user.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from api.objects import KubeObject
from olm_classic.csv.owner import Owner
from olm_classic.hashes import map_hash, text_hash
from olm_classic.names import LABEL_PERMISSIONS_HASH
from olm_content.formats import go_json
from olm_content.kube_types.typed_json import typed_json
from olm_content.render.names import object_name
from olm_content.render.rbac import RBAC_API, RBAC_GROUP

Permission = dict[str, Any]
"""`serviceAccountName` and `rules`, as a ClusterServiceVersion has them."""


@dataclass(frozen=True, slots=True)
class AccountObjects:
    """A service account with what gives it rights."""

    service_account: KubeObject
    roles: list[KubeObject] = field(default_factory=list)
    role_bindings: list[KubeObject] = field(default_factory=list)
    cluster_roles: list[KubeObject] = field(default_factory=list)
    cluster_role_bindings: list[KubeObject] = field(default_factory=list)


def account_objects(
    owner: Owner, permissions: Iterable[Permission], cluster_permissions: Iterable[Permission]
) -> list[AccountObjects]:
    """What the permissions make, one entry per account, in the order of the accounts' names.

    An account that has cluster permissions only is written without a namespace.
    """
    accounts: dict[str, AccountObjects] = {}
    for permission in map(_in_own_order, permissions):
        name = permission["serviceAccountName"]
        account = accounts.setdefault(name, _account(owner, name, namespace=owner.namespace))
        role, binding = _namespaced(owner, permission)
        account.roles.append(role)
        account.role_bindings.append(binding)
    for permission in map(_in_own_order, cluster_permissions):
        name = permission["serviceAccountName"]
        account = accounts.setdefault(name, _account(owner, name))
        role, binding = _clusterwide(owner, permission)
        account.cluster_roles.append(role)
        account.cluster_role_bindings.append(binding)
    return [accounts[name] for name in sorted(accounts)]


def _in_own_order(permission: Permission) -> Permission:
    """The permission as hashes see it: without unknown fields, the others in their order."""
    typed: Permission = typed_json("StrategyDeploymentPermissions", permission)
    return typed


def _account(owner: Owner, name: str, **namespace: str) -> AccountObjects:
    metadata = {"name": name, **namespace, "ownerReferences": [owner.reference()]}
    return AccountObjects({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})


def _namespaced(owner: Owner, permission: Permission) -> tuple[KubeObject, KubeObject]:
    """A Role and its RoleBinding in the owner's namespace."""
    suffix = map_hash({"name": owner.name, "permission": permission})
    name = object_name(f"{owner.name}-{permission['serviceAccountName']}", suffix)
    owned = {"ownerReferences": [owner.reference()]}
    metadata = {"name": name, "namespace": owner.namespace}
    role = _role("Role", owner, metadata, permission)
    binding = _binding("Role", owner, metadata, permission)
    for made in (role, binding):
        made["metadata"] |= owned
    return role, binding


def _clusterwide(owner: Owner, permission: Permission) -> tuple[KubeObject, KubeObject]:
    """A ClusterRole and its ClusterRoleBinding.

    The binding names a namespace, which the API server passes over: upstream's plans show it.
    """
    identity = {"name": owner.name, "namespace": owner.namespace, "permission": permission}
    name = object_name(owner.name, map_hash(identity))
    role = _role("ClusterRole", owner, {"name": name}, permission)
    metadata = {"name": name, "namespace": owner.namespace}
    return role, _binding("ClusterRole", owner, metadata, permission)


def _role(kind: str, owner: Owner, metadata: dict[str, str], permission: Permission) -> KubeObject:
    rules = permission["rules"]
    return {
        "apiVersion": RBAC_API,
        "kind": kind,
        "metadata": {**metadata, "labels": _labels(owner, rules)},
        "rules": rules,
    }


def _binding(
    kind: str, owner: Owner, metadata: dict[str, str], permission: Permission
) -> KubeObject:
    """The binding of the permission's account to the role of the same name."""
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": metadata["name"]}
    account = permission["serviceAccountName"]
    subjects = [{"kind": "ServiceAccount", "name": account, "namespace": owner.namespace}]
    labels = _labels(owner, {"RoleRef": reference, "Subjects": subjects})
    return {
        "apiVersion": RBAC_API,
        "kind": f"{kind}Binding",
        "metadata": {**metadata, "labels": labels},
        "subjects": subjects,
        "roleRef": reference,
    }


def _labels(owner: Owner, content: Any) -> dict[str, str]:
    return {**owner.labels(), LABEL_PERMISSIONS_HASH: text_hash(go_json.dumps(content))}
