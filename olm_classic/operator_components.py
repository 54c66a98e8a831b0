"""The components of operators: whose they are, and how an Operator shows them. Pure.

An operator's components carry a label whose key ends with the operator's name; see `components`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.objects import GVK, KubeObject, labels_of, metadata, name_of, namespace_of
from api.operators.names import GROUP
from olm_classic.components import component_label
from olm_classic.csv.owner import owner_of
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import COMPONENT_LABEL_PREFIX
from olm_content.names import CSV_KIND

Key = tuple[str, str]
"""Namespace and name."""
Reference = dict[str, Any]

_CONDITION_FIELDS = (
    "type",
    "status",
    "reason",
    "message",
    "lastUpdateTime",
    "lastTransitionTime",
)
_CACHED_METADATA = ("name", "namespace", "uid", "resourceVersion", "labels", "ownerReferences")


def trimmed(obj: KubeObject) -> KubeObject:
    """What has to be known of a component, and of what may become one."""
    status = obj.get("status") or {}
    meta = metadata(obj)
    return {
        **{key: obj[key] for key in ("apiVersion", "kind") if key in obj},
        "metadata": {key: meta[key] for key in _CACHED_METADATA if key in meta},
        "status": {"conditions": status["conditions"]} if "conditions" in status else {},
    }


def suffixes_of(obj: KubeObject) -> list[str]:
    """The suffixes of the labels by which an object is a component, one for each operator."""
    prefix = COMPONENT_LABEL_PREFIX
    return [key.removeprefix(prefix) for key in sorted(labels_of(obj)) if key.startswith(prefix)]


def suffix_of_subscription(subscription: KubeObject) -> str:
    """That of the operator that a Subscription installs."""
    label = component_label(subscription["spec"]["name"], namespace_of(subscription))
    return label.removeprefix(COMPONENT_LABEL_PREFIX)


def suffix_of_operator(name: str) -> str:
    """That of the components of an Operator, whose name may be longer."""
    package, _, namespace = name.partition(".")
    return component_label(package, namespace).removeprefix(COMPONENT_LABEL_PREFIX)


def owners_of(obj: KubeObject) -> set[Key]:
    """The ClusterServiceVersions that own an object, by reference or by labels."""
    references = metadata(obj).get("ownerReferences") or ()
    named = (
        (namespace_of(obj), str(each.get("name")))
        for each in references
        if each.get("kind") == CSV_KIND and str(each.get("apiVersion")).startswith(f"{GROUP}/")
    )
    return {*named, *owner_of(obj)}


def missing_labels(obj: KubeObject, suffixes: Iterable[str]) -> dict[str, str]:
    """The labels that an object needs besides those that it has."""
    wanted = (f"{COMPONENT_LABEL_PREFIX}{suffix}" for suffix in suffixes)
    return {key: "" for key in wanted if key not in labels_of(obj)}


def reference_to(kind: GVK, obj: KubeObject) -> Reference:
    """How a component is shown: a ClusterServiceVersion's phase is its one condition."""
    status = obj.get("status") or {}
    if kind == CLUSTER_SERVICE_VERSION:
        given: Sequence[Any] = [{**status, "type": status.get("phase"), "status": "True"}]
        given = given if status.get("phase") else []
    else:
        given = status.get("conditions") or ()
    found: Reference = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(obj),
        "namespace": namespace_of(obj),
        "conditions": [_condition(each) for each in given if isinstance(each, Mapping)],
    }
    return {key: value for key, value in found.items() if value}


def _condition(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is not cached of one: else it would be written again and again."""
    return {key: given[key] for key in _CONDITION_FIELDS if isinstance(given.get(key), str)}


def status_of(suffix: str, references: Sequence[Reference]) -> dict[str, Any]:
    """The status of an Operator; references in the order of kinds, namespaces and names."""
    expression = {"key": f"{COMPONENT_LABEL_PREFIX}{suffix}", "operator": "Exists"}
    components: dict[str, Any] = {"labelSelector": {"matchExpressions": [expression]}}
    if references:
        components["refs"] = list(references)
    return {"components": components}
