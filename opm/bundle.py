"""A registry+v1 bundle to its `olm.bundle` record, as upstream's catalog tool derives it. Pure."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from olm_content.bundle.files import BundleError
from olm_content.bundle.metadata import Object
from olm_content.bundle.mode import LENIENT
from olm_content.bundle.reader import Contents
from olm_content.bundle.reader import read as read_files
from olm_content.bundle.types import in_type
from olm_content.fbc.records import Record, rendered
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats import go_json
from olm_content.kube_types.tables import in_own_spelling
from olm_content.names import (
    ANNOTATION_PROPERTIES,
    BUNDLE,
    BUNDLE_OBJECT,
    CSV_KIND,
    GVK,
    GVK_REQUIRED,
    PACKAGE,
    PACKAGE_REQUIRED,
)
from opm.apis import Api, check_owned, provided_apis, required_apis


def read_bundle(files: Mapping[str, bytes]) -> Contents:
    """The bundle in files by their path from its root. Raises BundleError."""
    bundle = read_files(files, LENIENT)
    if "spec" not in bundle.csv:
        raise BundleError(f'bundle "{bundle.name}": its {CSV_KIND} has no spec')
    if not isinstance(bundle.spec, dict):
        raise BundleError(f'bundle "{bundle.name}": its {CSV_KIND}: spec: expected an object')
    check_owned(bundle)
    return bundle


def to_record(bundle: Contents, image: str) -> Record:
    """The `olm.bundle` record; `image` may be empty. Raises BundleError."""
    try:
        listed = [*_objects(bundle), *_derived(bundle)]
        value = {
            "schema": BUNDLE,
            "name": bundle.name,
            "package": bundle.metadata.package,
            "image": image,
            "properties": [item for _, _, item in sorted(listed, key=lambda each: each[:2])],
            "relatedImages": related_images(bundle.spec, image),
        }
        shown = read("Bundle", value)
    except ShapeError as error:
        raise BundleError(f'bundle "{bundle.name}": {error}') from error
    return rendered(Record(BUNDLE, bundle.metadata.package, bundle.name, shown))


def related_images(spec: Object, image: str) -> list[Object]:
    """The images listed in the ClusterServiceVersion, the bundle's own, those of deployments."""
    listed = read("RelatedImages", {"relatedImages": spec.get("relatedImages")})
    found: list[Object] = listed.get("relatedImages", [])
    known = {each["image"] for each in found}
    if image and image not in known:
        found.append({"name": "", "image": image})
    deployed = sorted(set(_deployed_images(spec)) - known)
    return found + [{"name": "", "image": each} for each in deployed]


def _deployed_images(spec: Object) -> Iterator[str]:
    install = read("InstallHolder", spec).get("install", {})
    pods = [_pod(each) for each in install.get("spec", {}).get("deployments", ())]
    if install.get("strategy") != "deployment":
        return
    for pod in pods:
        for key in ("containers", "initContainers"):
            yield from (each.get("image", "") for each in pod.get(key, ()))


def _pod(deployment: Object) -> Object:
    spec = in_own_spelling("DeploymentSpec", deployment.get("spec") or {})
    what = f"{CSV_KIND}: deployment {deployment.get('name', '')}: spec"
    found: Object = in_type("DeploymentSpec", spec, what).get("template", {}).get("spec", {})
    return found


Listed = tuple[str, str, Object]
"""A property with what it is sorted by: its type, and its value as text."""


def _listed(kind: str, value: Any) -> Listed:
    return kind, orjson.dumps(value).decode(), {"type": kind, "value": value}


def _objects(bundle: Contents) -> Iterator[Listed]:
    for each in bundle.objects:
        data = base64.b64encode(go_json.dumps(each, sort_keys=True).encode()).decode()
        yield _listed(BUNDLE_OBJECT, {"data": data})


def _derived(bundle: Contents) -> Iterator[Listed]:
    """Package, provided and required APIs, and whatever else the bundle's author declared."""
    package = package_property(bundle)
    own = [{"type": PACKAGE, "value": package}] if bundle.metadata.package else []
    provided = {api for _, api in provided_apis(bundle)}
    required = {api for _, api in required_apis(bundle)}
    # The last package counts: the annotation's before the bundle's own before that of metadata/.
    for item in _distinct([*bundle.metadata.properties, *own, *_annotated(bundle)]):
        kind = item["type"]
        if kind == GVK:
            provided.add(Api(**read("GVK", _value(item, "property"))))
        elif kind == PACKAGE:
            package = read("PackageProperty", _value(item, "property"))
        else:
            yield _listed(kind, item.get("value"))
    for item in bundle.metadata.dependencies:
        kind = item["type"]
        if kind == GVK:
            required.add(Api(**read("GVK", _value(item, "dependency"))))
        elif kind == PACKAGE:
            other = read("PackageProperty", _value(item, "dependency"))
            needed = {"packageName": other["packageName"], "versionRange": other["version"]}
            yield _listed(PACKAGE_REQUIRED, needed)
        else:
            yield _listed(kind, item.get("value"))
    yield _listed(PACKAGE, package)
    yield from (_listed(GVK, _gvk(api)) for api in provided)
    yield from (_listed(GVK_REQUIRED, _gvk(api)) for api in required)


def _value(item: Object, what: str) -> Any:
    """A null is a value, though an empty one."""
    if "value" not in item:
        raise BundleError(f"a {what} of type {item['type']} has no value")
    return item["value"]


def _gvk(api: Api) -> Object:
    return {"group": api.group, "kind": api.kind, "version": api.version}


def package_property(bundle: Contents) -> Object:
    """The value of the olm.package property. Raises ShapeError, BundleError."""
    release = bundle.spec.get("release")
    if release is None:
        release = ""
    elif isinstance(release, int | float) and not isinstance(release, bool):
        release = go_json.dumps(release)
    elif not isinstance(release, str):
        raise BundleError("release field must be a string or number")
    version = bundle.spec.get("version")
    value = {"packageName": bundle.metadata.package, "version": version, "release": release}
    return read("PackageProperty", value)


def declared(bundle: Contents) -> Iterator[Object]:
    """Properties of metadata/, then of the annotation; the same one only once."""
    return _distinct([*bundle.metadata.properties, *_annotated(bundle)])


def _distinct(items: Iterable[Object]) -> Iterator[Object]:
    seen: set[tuple[str, bytes]] = set()
    for item in items:
        value = orjson.dumps(item["value"]) if "value" in item else b""
        if (item["type"], value) not in seen:
            seen.add((item["type"], value))
            yield item


def _annotated(bundle: Contents) -> list[Object]:
    """What is wrong in the annotation is left out, and the rest counts."""
    try:
        found = orjson.loads(bundle.annotations.get(ANNOTATION_PROPERTIES) or "[]")
    except orjson.JSONDecodeError:
        return []
    return [_given_property(item) for item in found] if isinstance(found, list) else []


def _given_property(item: Any) -> Object:
    try:
        return read("GivenProperty", item)
    except ShapeError:
        value = item.get("value") if isinstance(item, dict) else None
        return {"type": "", **({"value": value} if value is not None else {})}
