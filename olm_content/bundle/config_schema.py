"""The JSON schema of what a user may configure of a bundle: what `configuration.parse` accepts.

For forms. What it says of Kubernetes' types is less than what is checked: their patterns and
whether one field needs another are the API server's.
"""

from collections.abc import Collection
from functools import cache
from typing import Any

from olm_content.bundle.config_check import DEPLOYMENT_CONFIG
from olm_content.bundle.configuration import (
    DEPLOYMENT_CONFIG_FIELD,
    MAX_NAMESPACE_LENGTH,
    NAMESPACE_PATTERN,
    WATCH_NAMESPACE,
)
from olm_content.bundle.model import InstallMode
from olm_content.kube_types.tables import STRUCTS, fields_of

Schema = dict[str, Any]

_PLAIN = {
    **dict.fromkeys(("str", "bytes", "time", "quantity"), "string"),
    **dict.fromkeys(("int", "int32"), "integer"),
    "bool": "boolean",
    "float": "number",
}
_SAYS = {
    "nodeSelector": "Labels of the nodes that its pods may run on.",
    "tolerations": "Taints of nodes that its pods bear.",
    "resources": "What its containers get of a node.",
    "envFrom": "ConfigMaps and Secrets whose keys become variables of its containers.",
    "env": "Variables of its containers.",
    "volumes": "Volumes of its pods.",
    "volumeMounts": "Where its containers find volumes.",
    "affinity": "Which nodes and neighbours its pods prefer or avoid.",
    "annotations": "Annotations of its Deployments and their pods.",
}


def config_schema(modes: Collection[str]) -> Schema:
    """Of a bundle that supports these install modes."""
    properties: Schema = {}
    if {InstallMode.OWN_NAMESPACE, InstallMode.SINGLE_NAMESPACE} & set(modes):
        properties[WATCH_NAMESPACE] = {
            "type": "string",
            "description": _watched(modes),
            "minLength": 1,
            "maxLength": MAX_NAMESPACE_LENGTH,
            "pattern": NAMESPACE_PATTERN,
        }
    properties[DEPLOYMENT_CONFIG_FIELD] = {
        **_of_struct(DEPLOYMENT_CONFIG),
        "description": "What is other in its Deployments than the bundle says.",
    }
    optional = InstallMode.ALL_NAMESPACES in modes or WATCH_NAMESPACE not in properties
    return {
        "type": "object",
        "properties": properties,
        "required": [] if optional else [WATCH_NAMESPACE],
        "additionalProperties": False,
    }


def _watched(modes: Collection[str]) -> str:
    if InstallMode.SINGLE_NAMESPACE not in modes:
        which = "The one that it is installed in"
    elif InstallMode.OWN_NAMESPACE not in modes:
        which = "Another than the one that it is installed in"
    else:
        which = "Any one"
    everything = InstallMode.ALL_NAMESPACES in modes
    return f"{which}{'; without it all are watched' if everything else ''}."


@cache
def _of_struct(name: str) -> Schema:
    properties = {field: _of(notation) for field, notation in fields_of(name).items()}
    if name == DEPLOYMENT_CONFIG:
        for field, schema in properties.items():
            schema["description"] = _SAYS[field]
    return {"type": "object", "properties": properties}


def _of(notation: str) -> Schema:
    notation = notation.lstrip("!*")
    if notation.startswith("[]"):
        return {"type": "array", "items": _of(notation[2:])}
    if notation.startswith("{}"):
        return {"type": "object", "additionalProperties": _of(notation[2:])}
    if notation in STRUCTS:
        return dict(_of_struct(notation))
    return {"type": _PLAIN[notation]} if notation in _PLAIN else {}
