"""A registry+v1 bundle to its `olm.bundle` record, as upstream's catalog tool derives it. Pure."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from olm_content.fbc.catalog import Record, rendered
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats import go_json
from olm_content.kube_types.go_types import in_own_spelling
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
from opm.bundle_files import (
    BundleError,
    Metadata,
    Object,
    read_manifests,
    read_metadata,
)
from opm.definitions import Api, Named, defined, typed


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle read: its objects in the order of their files, its metadata, and remarks.

    `head` has kind, API version and metadata of the ClusterServiceVersion, in their types.
    """

    objects: tuple[Object, ...]
    csv: Object
    metadata: Metadata
    head: Object
    definitions: tuple[Named, ...]
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The name of the ClusterServiceVersion."""
        return str(self._described.get("name", ""))

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the ClusterServiceVersion."""
        found: Mapping[str, str] = self._described.get("annotations", {})
        return found

    @property
    def _described(self) -> Object:
        found: Object = self.head.get("metadata", {})
        return found

    @property
    def version(self) -> str:
        """The version the ClusterServiceVersion says, empty if none."""
        return str(self.spec.get("version") or "")

    @property
    def spec(self) -> Object:
        """The spec of the ClusterServiceVersion."""
        spec: Object = {} if self.csv.get("spec") is None else self.csv["spec"]
        return spec


def read_bundle(files: Mapping[str, bytes]) -> Bundle:
    """The bundle in files by their path from its root. Raises BundleError."""
    remarks: list[str] = []
    objects, csv = read_manifests(files, remarks)
    head = _head(csv)
    definitions = tuple(defined(objects))
    metadata = read_metadata(files, remarks)
    bundle = Bundle(tuple(objects), csv, metadata, head, definitions, tuple(remarks))
    _check_spec(bundle)
    _check_owned(bundle)
    return bundle


def to_record(bundle: Bundle, image: str) -> Record:
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
    found: Object = typed("DeploymentSpec", spec, what).get("template", {}).get("spec", {})
    return found


Listed = tuple[str, str, Object]
"""A property with what it is sorted by: its type, and its value as text."""


def _listed(kind: str, value: Any) -> Listed:
    return kind, orjson.dumps(value).decode(), {"type": kind, "value": value}


def _objects(bundle: Bundle) -> Iterator[Listed]:
    for each in bundle.objects:
        data = base64.b64encode(go_json.dumps(each, sort_keys=True).encode()).decode()
        yield _listed(BUNDLE_OBJECT, {"data": data})


def _derived(bundle: Bundle) -> Iterator[Listed]:
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
            wanted = read("PackageProperty", _value(item, "dependency"))
            needed = {"packageName": wanted["packageName"], "versionRange": wanted["version"]}
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


def package_property(bundle: Bundle) -> Object:
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


def declared(bundle: Bundle) -> Iterator[Object]:
    """Properties of metadata/, then of the annotation; the same one only once."""
    return _distinct([*bundle.metadata.properties, *_annotated(bundle)])


def _distinct(items: Iterable[Object]) -> Iterator[Object]:
    seen: set[tuple[str, bytes]] = set()
    for item in items:
        value = orjson.dumps(item["value"]) if "value" in item else b""
        if (item["type"], value) not in seen:
            seen.add((item["type"], value))
            yield item


def _annotated(bundle: Bundle) -> list[Object]:
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


def provided_apis(bundle: Bundle) -> Iterator[Named]:
    """The kinds of the bundle's definitions and of the API services it owns.

    Raises ShapeError.
    """
    yield from bundle.definitions
    for owned in _descriptions(bundle.spec, "apiservicedefinitions", "owned"):
        yield owned["name"], Api(owned["group"], owned["kind"], owned["version"])


def required_apis(bundle: Bundle) -> Iterator[Named]:
    """The kinds that the ClusterServiceVersion requires. Raises ShapeError, BundleError."""
    for needed in _descriptions(bundle.spec, "customresourcedefinitions", "required"):
        plural, group = _split_name(needed["name"])
        yield plural, Api(group, needed["kind"], needed["version"])
    for needed in _descriptions(bundle.spec, "apiservicedefinitions", "required"):
        yield needed["name"], Api(needed["group"], needed["kind"], needed["version"])


def _descriptions(spec: Object, section: str, key: str) -> list[Object]:
    found: list[Object] = read("DefinitionKeys", spec.get(section)).get(key, [])
    if found and None in spec[section].get(key, ()):
        raise BundleError(f"the {CSV_KIND}: spec.{section}.{key} has an empty item")
    return found


def _head(csv: Object) -> Object:
    """Names, labels and annotations of a ClusterServiceVersion have to be text."""
    try:
        return read("Head", csv)
    except ShapeError as error:
        raise BundleError(
            f"the {CSV_KIND}: {error}", hint="write numbers and booleans in quotes"
        ) from error


def _check_spec(bundle: Bundle) -> None:
    if "spec" not in bundle.csv:
        raise BundleError(f'bundle "{bundle.name}": its {CSV_KIND} has no spec')
    if not isinstance(bundle.spec, dict):
        raise BundleError(f'bundle "{bundle.name}": its {CSV_KIND}: spec: expected an object')


def _check_owned(bundle: Bundle) -> None:
    """Each definition the ClusterServiceVersion owns must be there."""
    try:
        for owned in _descriptions(bundle.spec, "customresourcedefinitions", "owned"):
            plural, group = _split_name(owned["name"])
            if (plural, Api(group, owned["kind"], owned["version"])) not in bundle.definitions:
                raise BundleError(
                    f'bundle "{bundle.name}": its ClusterServiceVersion owns {owned["name"]}, kind '
                    f"{owned['kind']}, version {owned['version']}, which no manifest defines",
                    hint="put the CustomResourceDefinition beside it, or correct the list of "
                    "owned definitions",
                )
    except ShapeError as error:
        raise BundleError(f'bundle "{bundle.name}": {error}') from error


def _split_name(name: str) -> tuple[str, str]:
    plural, dot, group = name.partition(".")
    if not dot:
        raise BundleError(f"couldn't parse plural.group from crd name: {name}")
    return plural, group
