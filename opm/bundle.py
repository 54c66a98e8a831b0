"""A registry+v1 bundle to its `olm.bundle` record, as upstream's catalog tool derives it. Pure.

What may be wrong in a bundle and is passed over upstream is passed over here, with a remark:
manifests that cannot be read, further documents of a file, a second ClusterServiceVersion.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from olm_shared import go_json
from olm_shared.errors import TerminalError
from olm_shared.kube_yaml import YamlError, load_all
from opm.catalog import BUNDLE, BUNDLE_OBJECT, Record, rendered
from opm.shapes import ShapeError, read

MANIFESTS, METADATA = "manifests/", "metadata/"
CSV, CRD = "ClusterServiceVersion", "CustomResourceDefinition"
PROPERTIES_ANNOTATION = "olm.properties"
_PREFIX = "operators.operatorframework.io.bundle."
PACKAGE_KEY, CHANNELS_KEY = f"{_PREFIX}package.v1", f"{_PREFIX}channels.v1"
DEFAULT_CHANNEL_KEY = f"{_PREFIX}channel.default.v1"

Object = dict[str, Any]


class BundleError(TerminalError):
    """A bundle of which no record can be made."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the files of `metadata/` say of a bundle."""

    package: str
    properties: tuple[Object, ...] = ()
    dependencies: tuple[Object, ...] = ()
    channels: tuple[str, ...] = ()
    default_channel: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle read: its objects in the order of their files, its metadata, and remarks."""

    objects: tuple[Object, ...]
    csv: Object
    metadata: Metadata
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """The name of the ClusterServiceVersion."""
        return str((self.csv.get("metadata") or {}).get("name") or "")

    @property
    def version(self) -> str:
        """The version the ClusterServiceVersion says, empty if none."""
        return str(self.spec.get("version") or "")

    @property
    def spec(self) -> Object:
        """The spec of the ClusterServiceVersion."""
        spec: Object = self.csv.get("spec") or {}
        return spec


@dataclass(frozen=True, slots=True, order=True)
class Api:
    """A kind that a bundle provides or requires."""

    group: str
    kind: str
    version: str


def read_bundle(files: Mapping[str, bytes]) -> Bundle:
    """The bundle in files by their path from its root. Raises BundleError."""
    remarks: list[str] = []
    objects, csv = [], None
    for path, found in _first_documents(files, MANIFESTS, remarks):
        if not isinstance(found, dict) or not found.get("kind"):
            remarks.append(f"{path}: no object with a kind; passed over")
            continue
        if found["kind"] == CSV:
            if csv is not None:
                remarks.append(f"{path}: a second {CSV}; passed over")
                continue
            csv = found
        objects.append(found)
    if not objects:
        raise BundleError("no bundle objects found in manifests/")
    if csv is None:
        raise BundleError("no csv in bundle: none of the manifests is a ClusterServiceVersion")
    bundle = Bundle(tuple(objects), csv, _metadata(files), tuple(remarks))
    _check_csv(bundle)
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
    found = [read("Image", listed) for listed in spec.get("relatedImages") or ()]
    known = {each["image"] for each in found}
    if image and image not in known:
        found.append({"name": "", "image": image})
    deployed = sorted(set(_deployed_images(spec)) - known)
    return found + [{"name": "", "image": each} for each in deployed]


def _deployed_images(spec: Object) -> Iterator[str]:
    install = read("InstallHolder", spec).get("install", {})
    if install.get("strategy") != "deployment":
        return
    for deployment in install.get("spec", {}).get("deployments", ()):
        pod = deployment.get("spec", {}).get("template", {}).get("spec", {})
        for key in ("containers", "initContainers"):
            yield from (each.get("image", "") for each in pod.get(key, ()))


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
    own = [{"type": "olm.package", "value": package}] if bundle.metadata.package else []
    provided = {api for _, api in provided_apis(bundle)}
    required = {api for _, api in required_apis(bundle)}
    # The last package counts: the annotation's before the bundle's own before that of metadata/.
    for item in _distinct([*bundle.metadata.properties, *own, *_annotated(bundle.csv)]):
        kind, value = item.get("type") or "", item.get("value")
        if kind == "olm.gvk":
            provided.add(Api(**read("GVK", value)))
        elif kind == "olm.package":
            package = read("PackageProperty", value)
        else:
            yield _listed(kind, value)
    for item in bundle.metadata.dependencies:
        kind, value = item.get("type") or "", item.get("value")
        if kind == "olm.gvk":
            required.add(Api(**read("GVK", value)))
        elif kind == "olm.package":
            wanted = read("PackageProperty", value)
            needed = {"packageName": wanted["packageName"], "versionRange": wanted["version"]}
            yield _listed("olm.package.required", needed)
        else:
            yield _listed(kind, value)
    yield _listed("olm.package", package)
    yield from (_listed("olm.gvk", _gvk(api)) for api in provided)
    yield from (_listed("olm.gvk.required", _gvk(api)) for api in required)


def _gvk(api: Api) -> Object:
    return {"group": api.group, "kind": api.kind, "version": api.version}


def package_property(bundle: Bundle) -> Object:
    """The value of the olm.package property. Raises ShapeError."""
    package = bundle.metadata.package
    release = bundle.spec.get("release") or ""
    if isinstance(release, float) and release.is_integer():
        release = int(release)
    value = {"packageName": package, "version": bundle.spec.get("version"), "release": str(release)}
    return read("PackageProperty", value)


def declared(bundle: Bundle) -> Iterator[Object]:
    """Properties of metadata/, then of the annotation; the same one only once."""
    return _distinct([*bundle.metadata.properties, *_annotated(bundle.csv)])


def _distinct(items: Iterable[Object]) -> Iterator[Object]:
    seen: set[tuple[str, bytes]] = set()
    for item in items:
        key = (str(item.get("type")), orjson.dumps(item.get("value")))
        if key not in seen:
            seen.add(key)
            yield item


def _annotated(csv: Object) -> list[Object]:
    text = ((csv.get("metadata") or {}).get("annotations") or {}).get(PROPERTIES_ANNOTATION)
    try:
        found = orjson.loads(text) if text else []
    except orjson.JSONDecodeError:
        return []  # upstream warns and goes on
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


Named = tuple[str, Api]
"""A kind with its plural."""


def provided_apis(bundle: Bundle) -> Iterator[Named]:
    """The kinds of the bundle's definitions and of the API services it owns.

    Raises ShapeError.
    """
    yield from _defined(bundle)
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
    return found


def _defined(bundle: Bundle) -> Iterator[Named]:
    """Each version of each definition, with the plural of its kind."""
    for each in bundle.objects:
        if each["kind"] != CRD:
            continue
        spec = each.get("spec") or {}
        names, group = spec.get("names") or {}, str(spec.get("group") or "")
        versions = [str(version.get("name") or "") for version in spec.get("versions") or ()]
        if str(each.get("apiVersion")).endswith("/v1beta1") and spec.get("version"):
            versions.append(str(spec["version"]))
        for version in versions:
            yield str(names.get("plural") or ""), Api(group, str(names.get("kind") or ""), version)


def _check_csv(bundle: Bundle) -> None:
    """Names, labels and annotations of the ClusterServiceVersion have to be text."""
    if "spec" not in bundle.csv:
        raise BundleError(f'bundle "{bundle.name}": its ClusterServiceVersion has no spec')
    try:
        read("ObjectMeta", bundle.csv.get("metadata"))
    except ShapeError as error:
        raise BundleError(
            f'bundle "{bundle.name}": its ClusterServiceVersion: metadata.{error}',
            hint="write numbers and booleans in quotes",
        ) from error


def _check_owned(bundle: Bundle) -> None:
    """Each definition the ClusterServiceVersion owns must be there."""
    try:
        there = set(_defined(bundle))
        for owned in _descriptions(bundle.spec, "customresourcedefinitions", "owned"):
            plural, group = _split_name(owned["name"])
            if (plural, Api(group, owned["kind"], owned["version"])) not in there:
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


def _metadata(files: Mapping[str, bytes]) -> Metadata:
    """Of each kind of file in metadata/ the first counts, whatever its name."""
    annotated: Object | None = None
    properties: tuple[Object, ...] = ()
    dependencies: tuple[Object, ...] = ()
    for _, found in _first_documents(files, METADATA, []):
        if not isinstance(found, dict):
            continue
        annotations = found.get("annotations")
        if annotated is None and isinstance(annotations, dict) and _speaks_of_bundle(annotations):
            annotated = annotations
        properties = properties or _typed_items(found.get("properties"))
        dependencies = dependencies or _typed_items(found.get("dependencies"))
    if annotated is None:
        raise BundleError(
            "could not find annotations file in metadata/",
            hint=f"metadata/annotations.yaml says {PACKAGE_KEY} and {CHANNELS_KEY}",
        )
    channels = str(annotated.get(CHANNELS_KEY) or "").split(",")
    return Metadata(
        str(annotated.get(PACKAGE_KEY) or ""),
        properties,
        dependencies,
        tuple(name.strip() for name in channels if name.strip()),
        str(annotated.get(DEFAULT_CHANNEL_KEY) or ""),
    )


def _speaks_of_bundle(annotations: Object) -> bool:
    return any(annotations.get(key) for key in (PACKAGE_KEY, CHANNELS_KEY, DEFAULT_CHANNEL_KEY))


def _typed_items(items: Any) -> tuple[Object, ...]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return ()
    return tuple(items)


def _first_documents(
    files: Mapping[str, bytes], folder: str, remarks: list[str]
) -> Iterable[tuple[str, Any]]:
    """The first document of each file in the folder itself, by name; unreadable ones remarked."""
    for path in sorted(files):
        name = path.removeprefix(folder)
        if not path.startswith(folder) or "/" in name or name.startswith("."):
            continue
        try:
            found = next(iter(load_all(files[path])), None)
        except YamlError as error:
            remarks.append(f"{path}: cannot be read, passed over: {error.message}")
            continue
        yield path, found
