"""What a bundle contains, for people and tools that ask before they install it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.objects import KubeObject
from olm_content.bundle.files import DEPENDENCIES_FILE
from olm_content.bundle.mode import STRICT
from olm_content.bundle.model import InstallMode, Permission, RegistryV1
from olm_content.bundle.reader import installable, read
from olm_content.formats.kube_yaml import load_all
from olm_content.names import ANNOTATION_PROPERTIES, GVK, PACKAGE, REQUIREMENTS

DEPENDENCY_TYPES = REQUIREMENTS | {GVK, PACKAGE}


def summary(files: Mapping[str, bytes]) -> dict[str, Any]:
    """The contents of a bundle as plain JSON, everything sorted. Raises BundleError."""
    contents = read(files, STRICT)
    bundle, spec = installable(contents, files), contents.spec
    csv = bundle.csv
    return {
        "package": bundle.package_name,
        "name": csv.name,
        "version": spec.get("version") or "",
        "displayName": spec.get("displayName") or "",
        "minKubeVersion": spec.get("minKubeVersion") or "",
        "installModes": [mode.value for mode in InstallMode if csv.supports(mode)],
        "apis": {
            "owned": _apis(spec, "owned"),
            "required": _apis(spec, "required"),
            "defined": [_definition(crd) for crd in bundle.crds],
        },
        "permissions": {
            "cluster": [_permission(permission) for permission in csv.cluster_permissions],
            "namespaced": [_permission(permission) for permission in csv.permissions],
        },
        "deployments": [deployment.name for deployment in csv.deployments],
        "images": sorted(set(_images(bundle))),
        "relatedImages": spec.get("relatedImages") or [],
        "webhooks": [_webhook(hook.fields) for hook in csv.webhooks],
        "dependencies": [*dependencies(bundle, files)],
        "objects": sorted(f"{obj['kind']} {_name(obj)}" for obj in bundle.others),
    }


def dependencies(bundle: RegistryV1, files: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    """What else the bundle needs, as its properties and dependencies.yaml say."""
    properties = json.loads(bundle.csv.annotations.get(ANNOTATION_PROPERTIES) or "[]") or []
    yield from (item for item in properties if item["type"] in REQUIREMENTS)
    content = next(load_all(files.get(DEPENDENCIES_FILE, b"")), None) or {}
    listed = content.get("dependencies") if isinstance(content, dict) else None
    yield from filter(_is_dependency, listed if isinstance(listed, list) else ())


def _is_dependency(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in DEPENDENCY_TYPES


def _apis(spec: Mapping[str, Any], role: str) -> list[dict[str, str]]:
    listed = (spec.get("customresourcedefinitions") or {}).get(role) or []
    keys = ("name", "kind", "version")
    return [{key: str(item.get(key) or "") for key in keys} for item in listed]


def _definition(crd: KubeObject) -> dict[str, Any]:
    spec = crd["spec"]
    served = [version["name"] for version in spec.get("versions") or () if version.get("served")]
    return {"name": _name(crd), "kind": spec["names"]["kind"], "served": served}


def _permission(permission: Permission) -> dict[str, Any]:
    return {"serviceAccount": permission.account_name, "rules": list(permission.rules or ())}


def _images(bundle: RegistryV1) -> Iterable[str]:
    for deployment in bundle.csv.deployments:
        pod = (deployment.spec.get("template") or {}).get("spec") or {}
        for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
            if container.get("image"):
                yield container["image"]


def _webhook(fields: Mapping[str, Any]) -> dict[str, Any]:
    shown = ("generateName", "type", "deploymentName", "failurePolicy", "rules", "conversionCRDs")
    return {key: fields[key] for key in shown if fields.get(key)}


def _name(obj: KubeObject) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")
