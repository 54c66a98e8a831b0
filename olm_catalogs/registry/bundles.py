"""The message of a bundle in the registry API, in parts. Pure.

The parts are serialised messages of the same type; put one after the other they are one message
with all their fields. So answers with and without a part are made by joining bytes.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from olm_catalogs.registry import registry_pb2
from olm_content.fbc.records import Record, properties
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats import go_json
from olm_content.formats.canonical_json import canonical
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import (
    BUNDLE_OBJECT,
    CSV_API_VERSION,
    CSV_KIND,
    CSV_METADATA,
    GVK,
    GVK_REQUIRED,
    PACKAGE,
    PACKAGE_REQUIRED,
)
from olm_runtime.errors import TerminalError

Api = tuple[str, str, str]
"""Group, version and kind."""


@dataclass(frozen=True, slots=True)
class Served:
    """A bundle's message, without channel: `content` has its objects, `core` the rest."""

    core: bytes
    content: bytes
    provides: tuple[Api, ...]
    has_image: bool


def served(bundle: Record, package: Record, deprecation: str | None) -> Served:
    """The message of the bundle; `deprecation` is that of its deprecation. Raises TerminalError."""
    try:
        return _served(bundle, package, deprecation)
    except (ShapeError, YamlError) as error:
        text = error.message if isinstance(error, YamlError) else str(error)
        raise TerminalError(
            f'package "{bundle.package}", bundle "{bundle.name}": {text}'
        ) from error


def _served(bundle: Record, package: Record, deprecation: str | None) -> Served:
    items = properties(bundle)
    provides = tuple(_apis(items, GVK))
    core = registry_pb2.Bundle(
        csvName=bundle.name,
        packageName=bundle.package,
        bundlePath=bundle.value["image"],
        version=_version(items),
        providedApis=map(_api_message, provides),
        requiredApis=map(_api_message, _apis(items, GVK_REQUIRED)),
        dependencies=_dependencies(items),
        properties=_properties(items),
    )
    if deprecation is not None:
        core.deprecation.message = deprecation
    objects = [_json_object(item) for item in items if item["type"] == BUNDLE_OBJECT]
    csv = next((text for text in objects if _is_csv(text)), "")
    metadata = [item["value"] for item in items if item["type"] == CSV_METADATA]
    if not csv and len(metadata) == 1:
        csv = go_json.dumps(_csv(metadata[0], bundle, package, core.version))
        objects = objects or [csv]
    content = registry_pb2.Bundle(csvJson=csv, object=objects)
    has_image = bool(bundle.value["image"])
    return Served(core.SerializeToString(), content.SerializeToString(), provides, has_image)


def _version(items: list[dict[str, Any]]) -> str:
    found = next(item["value"] for item in items if item["type"] == PACKAGE)
    return str(read("PackageProperty", found)["version"])


def _apis(items: list[dict[str, Any]], kind: str) -> Iterator[Api]:
    for item in items:
        if item["type"] == kind:
            api = read("GVK", item["value"])
            yield api["group"], api["version"], api["kind"]


def _api_message(api: Api) -> Any:
    group, version, kind = api
    return registry_pb2.GroupVersionKind(group=group, version=version, kind=kind)


def _dependencies(items: list[dict[str, Any]]) -> Iterator[Any]:
    """Requirements under the names that clients know them by."""
    make = registry_pb2.Dependency
    for item in items:
        if item["type"] == GVK_REQUIRED:
            yield make(type=GVK, value=_json(item["value"]))
        elif item["type"] == PACKAGE_REQUIRED:
            needed = read("PackageRequired", item["value"])
            value = {"packageName": needed["packageName"], "version": needed["versionRange"]}
            yield make(type=PACKAGE, value=orjson.dumps(value).decode())


def _properties(items: list[dict[str, Any]]) -> Iterator[Any]:
    """All but the large ones: clients copy properties into objects of the cluster."""
    make = registry_pb2.Property
    for item in items:
        if item["type"] not in {BUNDLE_OBJECT, CSV_METADATA}:
            yield make(type=item["type"], value=_json(item["value"]))


def _json(value: Any) -> str:
    return canonical({"v": value})[len(b'{"v":') : -1].decode()


def _json_object(item: Mapping[str, Any]) -> str:
    """The object's JSON: as it is embedded, or made of the YAML that is."""
    data = base64.b64decode(read("BundleObject", item["value"])["data"] or "")
    if data.lstrip().startswith(b"{"):
        return data.decode(errors="replace")
    return go_json.dumps(next(iter(load_all(data)), None), sort_keys=True)


def _is_csv(text: str) -> bool:
    try:
        found = next(iter(load_all(text.encode())), None)
    except YamlError:
        return False
    return isinstance(found, dict) and found.get("kind") == CSV_KIND


def _csv(value: Any, bundle: Record, package: Record, version: str) -> dict[str, Any]:
    """The ClusterServiceVersion that the metadata was taken from, without how it is installed.

    Fields in the order, and empty ones present, as Go writes the type: clients compare the text.
    """
    meta = read("CSVMetadata", value)
    metadata = {"name": bundle.name, **_taken(meta, "labels", "annotations")}
    spec = {
        "install": {"strategy": "deployment", "spec": {"deployments": None}},
        "version": version,
        **_taken(meta, "maturity"),
        "customresourcedefinitions": meta["crdDescriptions"],
        "apiservicedefinitions": meta["apiServiceDefinitions"],
        **_taken(meta, "nativeAPIs", "minKubeVersion"),
        "displayName": meta.get("displayName", ""),
        **_described(meta, package),
        **_taken(meta, "keywords", "maintainers"),
        "provider": meta["provider"],
        **_taken(meta, "links"),
        **_icon(package),
        **_taken(meta, "installModes"),
        "cleanup": {"enabled": False},
        **_taken(bundle.value, "relatedImages"),
    }
    return {
        "kind": CSV_KIND,
        "apiVersion": CSV_API_VERSION,
        "metadata": metadata,
        "spec": spec,
        "status": {"cleanup": {}},
    }


def _taken(value: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value[key] for key in keys if value.get(key)}


def _described(meta: Mapping[str, Any], package: Record) -> dict[str, str]:
    text = meta.get("description") or package.value.get("description")
    return {"description": text} if text else {}


def _icon(package: Record) -> dict[str, Any]:
    icon = package.value.get("icon")
    if icon is None:
        return {}
    return {"icon": [{"base64data": icon["base64data"] or "", "mediatype": icon["mediatype"]}]}
