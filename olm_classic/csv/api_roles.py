"""The cluster roles that let users at the APIs that an operator owns.

They are aggregated into the roles of Kubernetes and those of OperatorGroups. What serves an API
owns them: they go with it, not with the operator.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.objects import GVK, KubeObject, metadata, name_of
from olm_classic.csv.requirements import API_SERVICE, CRD
from olm_classic.names import LABEL_MANAGED
from olm_classic.provided_apis import aggregation_label
from olm_content.render.rbac import RBAC_API

VERBS: Mapping[str, tuple[str, ...]] = {
    "admin": ("*",),
    "edit": ("create", "update", "patch", "delete"),
    "view": ("get", "list", "watch"),
}
"""By the role of Kubernetes that gets them."""
AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-"

Description = Mapping[str, Any]
"""A definition or API service, as a ClusterServiceVersion lists what it owns."""


def owned_definitions(csv: KubeObject) -> list[Description]:
    """The definitions that it owns."""
    return _owned(csv, "customresourcedefinitions")


def owned_api_services(csv: KubeObject) -> list[Description]:
    """The API services that it owns."""
    return _owned(csv, "apiservicedefinitions")


def api_service_name(description: Description) -> str:
    """The name of the APIService that serves it."""
    return f"{description['version']}.{description['group']}"


def api_roles(
    csv: KubeObject,
    definitions: Mapping[str, KubeObject],
    api_services: Mapping[str, KubeObject],
) -> Iterator[KubeObject]:
    """The roles of every API that is there; definitions and API services by name."""
    for each in owned_definitions(csv):
        definition = definitions.get(each["name"])
        plural, dot, group = str(each["name"]).partition(".")
        if definition is not None and dot:
            api = GVK(group, each["version"], each["kind"])
            owner = _reference(CRD, definition)
            yield from _roles(each, api, plural, owner)
            yield _crdview(each, api, owner)
    for each in owned_api_services(csv):
        service = api_services.get(api_service_name(each))
        if service is not None:
            api = GVK(each["group"], each["version"], each["kind"])
            yield from _roles(each, api, each["name"], _reference(API_SERVICE, service))


def _owned(csv: KubeObject, part: str) -> list[Description]:
    return list((csv["spec"].get(part) or {}).get("owned") or ())


def _roles(
    described: Description, api: GVK, resource: str, owner: Mapping[str, Any]
) -> Iterator[KubeObject]:
    for level, verbs in VERBS.items():
        rule = {"apiGroups": [api.group], "resources": [resource], "verbs": list(verbs)}
        yield _role(_name(described, level), api, level, rule, owner)


def _crdview(described: Description, api: GVK, owner: Mapping[str, Any]) -> KubeObject:
    """To see the definition itself."""
    rule = {
        "apiGroups": [CRD.group],
        "resources": ["customresourcedefinitions"],
        "resourceNames": [described["name"]],
        "verbs": ["get"],
    }
    return _role(_name(described, "crdview"), api, "view", rule, owner)


def _name(described: Description, suffix: str) -> str:
    return f"{described['name']}-{described['version']}-{suffix}"


def _role(
    name: str, api: GVK, level: str, rule: Mapping[str, Iterable[str]], owner: Mapping[str, Any]
) -> KubeObject:
    return {
        "apiVersion": RBAC_API,
        "kind": "ClusterRole",
        "metadata": {
            "name": name,
            "labels": {
                f"{AGGREGATE_TO}{level}": "true",
                aggregation_label(api, level): "true",
                LABEL_MANAGED: "true",
            },
            "ownerReferences": [dict(owner)],
        },
        "rules": [dict(rule)],
    }


def _reference(kind: GVK, obj: KubeObject) -> Mapping[str, Any]:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(obj),
        "uid": metadata(obj)["uid"],
        "controller": False,
        "blockOwnerDeletion": False,
    }
