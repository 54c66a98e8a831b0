"""Reads the account of an extension, and all that is in its namespace. Writes nothing."""

import asyncio
from collections.abc import Sequence
from typing import Any

from api.objects import GVK, KubeObject, metadata, name_of, namespace_of
from api.olm.v1.kinds import EXTENSION
from olm_client.field_manager import FIELD_MANAGER
from olm_client.lifecycle.account_removal import AccountObjects, has_subject, refers_to
from olm_client.lifecycle.side_by_side import side_by_side
from olm_content.rights import Account
from olm_content.rights.installer import MANAGED_BY, WRITER, is_written_by_olm
from olm_content.rights.needs import RBAC_GROUP
from olm_rollout.managed_fields import entries_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.discovery import Resource, parse_groups
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.kube.media_types import GROUP_DISCOVERY

NAMESPACE = GVK("", "v1", "Namespace")
SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
ROLES = tuple(GVK(RBAC_GROUP, "v1", kind) for kind in ("ClusterRole", "Role"))
BINDINGS = tuple(GVK(RBAC_GROUP, "v1", kind) for kind in ("ClusterRoleBinding", "RoleBinding"))
FINALIZERS = "clusterextensions/finalizers"
COUNTED = frozenset({"list", "delete"})
"""Verbs of the kinds whose objects are stored, and not computed when they are asked for."""


async def read_account(kube: KubeClient, account: Account, extension: str) -> AccountObjects:
    """What there is of the account of that extension. Raises ApiError."""
    service_account, namespace, found, bound, others = await asyncio.gather(
        kube.find(SERVICE_ACCOUNT, account.name, account.namespace),
        kube.find(NAMESPACE, account.namespace),
        _all_of(kube, ROLES, fields=f"metadata.name={account.name}"),
        _all_of(kube, BINDINGS),
        kube.list_all(EXTENSION),
    )
    bindings = [
        binding
        for binding in bound
        if has_subject(binding, account) or any(refers_to(binding, role) for role in found)
    ]
    roles = [
        role
        for role in found
        if is_written_by_olm(role) or any(refers_to(binding, role) for binding in bindings)
    ]
    return AccountObjects(
        account=account,
        service_account=service_account,
        roles=roles,
        bindings=bindings,
        namespace=namespace,
        inside=await read_inside(kube, namespace) if namespace and _is_ours(namespace) else (),
        others=[other for other in others[0] if name_of(other) != extension],
    )


async def find_left_account(kube: KubeClient, extension: str) -> Account | None:
    """The account that `olm install` wrote for an extension, if a role still says so.

    Its ClusterRole has the right to own what the extension of that name installs. Raises ApiError.
    """
    written = f"{MANAGED_BY}={WRITER}"
    roles, bindings = await asyncio.gather(
        kube.list_all(ROLES[0], labels=written), kube.list_all(BINDINGS[0], labels=written)
    )
    for role in roles[0]:
        if extension not in _owned_by(role):
            continue
        for binding in bindings[0]:
            if refers_to(binding, role) and (subjects := binding.get("subjects")):
                return Account(str(subjects[0].get("namespace")), str(subjects[0].get("name")))
    return None


def _owned_by(role: KubeObject) -> set[str]:
    """The extensions whose finalizers a role may update."""
    return {
        name
        for rule in role.get("rules") or ()
        if FINALIZERS in (rule.get("resources") or ())
        for name in rule.get("resourceNames") or ()
    }


def _is_ours(namespace: KubeObject) -> bool:
    """Whether it matters what is in a namespace: nobody deletes another's."""
    return any(entry.get("manager") == FIELD_MANAGER for entry in entries_of(namespace))


async def _all_of(kube: KubeClient, kinds: Sequence[GVK], fields: str = "") -> list[KubeObject]:
    lists = await asyncio.gather(*(kube.list_all(kind, fields=fields) for kind in kinds))
    return [obj for found, _ in lists for obj in found]


async def read_inside(kube: KubeClient, namespace: KubeObject) -> list[KubeObject]:
    """The metadata of all objects in a namespace, of each kind that is served. Raises ApiError."""

    async def of_kind(resource: Resource) -> list[KubeObject]:
        try:
            found, _ = await kube.list_all(resource.gvk, name_of(namespace), metadata_only=True)
        except NotFoundError:  # the kind went meanwhile
            return []
        return found

    lists = await side_by_side(of_kind, await _namespaced(kube))
    unique = {str(metadata(obj).get("uid")): obj for found in lists for obj in found}
    return sorted(unique.values(), key=_order)


def _order(obj: KubeObject) -> tuple[Any, str, str]:
    return obj["kind"], namespace_of(obj), name_of(obj)


async def _namespaced(kube: KubeClient) -> list[Resource]:
    listed = await asyncio.gather(
        *(kube.request("GET", path, accept=GROUP_DISCOVERY) for path in ("/api", "/apis"))
    )
    return [
        resource
        for groups in listed
        for resource, verbs in parse_groups(groups)
        if resource.namespaced and verbs >= COUNTED
    ]
