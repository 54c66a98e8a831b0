"""ClusterServiceVersions as tests apply them by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject
from api.operators.names import V1ALPHA1

MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
IMAGE = "registry.example.com/operator:v1"


def deployment(name: str, *, image: str = IMAGE, **spec: Any) -> dict[str, Any]:
    """An entry of an install strategy: one replica with one container."""
    labels = {"app": name}
    pod = {"containers": [{"name": "manager", "image": image}]}
    return {
        "name": name,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            **spec,
        },
    }


def cluster_service_version(  # noqa: PLR0913 - what tests change
    namespace: str,
    name: str,
    *,
    deployments: Sequence[Mapping[str, Any] | str] = ("controller",),
    permissions: Sequence[Mapping[str, Any]] = (),
    cluster_permissions: Sequence[Mapping[str, Any]] = (),
    owned: Sequence[Mapping[str, Any]] = (),
    required: Sequence[Mapping[str, Any]] = (),
    modes: Sequence[str] = MODES,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    replaces: str = "",
    **spec: Any,
) -> KubeObject:
    """One with a Deployment `controller`, for groups of all kinds.

    deployments          entries of the strategy, or their names
    owned, required      definitions that it lists: name, version and kind
    modes                the install modes that it supports
    spec                 other fields of the spec
    """
    strategy: dict[str, Any] = {
        "deployments": [
            deployment(each) if isinstance(each, str) else dict(each) for each in deployments
        ]
    }
    if permissions:
        strategy["permissions"] = [dict(each) for each in permissions]
    if cluster_permissions:
        strategy["clusterPermissions"] = [dict(each) for each in cluster_permissions]
    definitions = {"owned": [*map(dict, owned)], "required": [*map(dict, required)]}
    return {
        "apiVersion": V1ALPHA1,
        "kind": "ClusterServiceVersion",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "annotations": dict(annotations or {}),
            "labels": dict(labels or {}),
        },
        "spec": {
            "displayName": name,
            "version": "1.0.0",
            "install": {"strategy": "deployment", "spec": strategy},
            "installModes": [{"type": mode, "supported": mode in modes} for mode in MODES],
            "customresourcedefinitions": {key: each for key, each in definitions.items() if each},
            **({"replaces": replaces} if replaces else {}),
            **spec,
        },
    }


def permission(
    account: str, verbs: Sequence[str], resource: str, group: str = ""
) -> dict[str, Any]:
    """Rights that a ServiceAccount needs."""
    rule = {"verbs": list(verbs), "apiGroups": [group], "resources": [resource]}
    return {"serviceAccountName": account, "rules": [rule]}


def definition(group: str, *, versions: Sequence[str] = ("v1",)) -> KubeObject:
    """A CRD of things that serves these versions, of which the last is stored."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    served = [
        {
            "name": version,
            "served": True,
            "storage": version == versions[-1],
            "schema": {"openAPIV3Schema": schema},
        }
        for version in versions
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": served},
    }


def entry(crd: KubeObject, version: str = "") -> dict[str, Any]:
    """A CRD as a ClusterServiceVersion lists it; its last version unless it is given."""
    spec = crd["spec"]
    return {
        "name": crd["metadata"]["name"],
        "version": version or spec["versions"][-1]["name"],
        "kind": spec["names"]["kind"],
    }


def cluster_rights(name: str, csv: str, namespace: str) -> list[KubeObject]:
    """A ClusterRole and its binding, whose labels name the ClusterServiceVersion they belong to."""
    labels = {
        "olm.owner": csv,
        "olm.owner.kind": "ClusterServiceVersion",
        "olm.owner.namespace": namespace,
    }
    meta = {"name": name, "labels": labels}
    group = "rbac.authorization.k8s.io"
    return [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": meta, "rules": []},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [],
        },
    ]
