"""What the files of a bundle's folders hold, read into upstream's types. Pure.

What cannot be read is passed over with a remark, as upstream passes it over: manifests that are no
objects, metadata of the wrong types, further documents of a file, a second ClusterServiceVersion.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import (
    CSV_KIND,
    LABEL_BUNDLE_CHANNELS,
    LABEL_BUNDLE_DEFAULT_CHANNEL,
    LABEL_BUNDLE_PACKAGE,
)
from olm_runtime.errors import TerminalError

MANIFESTS, METADATA = "manifests/", "metadata/"

Object = dict[str, Any]


class BundleError(TerminalError):
    """A bundle of which no record can be made."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the files of `metadata/` say of a bundle.

    Properties and dependencies have a `type`, and a `value` if they were given one.
    """

    package: str
    properties: tuple[Object, ...] = ()
    dependencies: tuple[Object, ...] = ()
    channels: tuple[str, ...] = ()
    default_channel: str = ""


@dataclass(frozen=True, slots=True)
class _Document:
    """The first document of a file."""

    path: str
    content: Any


def read_manifests(files: Mapping[str, bytes], remarks: list[str]) -> tuple[list[Object], Object]:
    """The objects in the order of their files, and the ClusterServiceVersion among them.

    Raises BundleError.
    """
    objects: list[Object] = []
    csv = None
    for document in _first_documents(files, MANIFESTS, remarks):
        path, found = document.path, document.content
        if not isinstance(found, dict) or not is_object(found):
            remarks.append(f"{path}: no object with a kind and an API version; passed over")
            continue
        if found["kind"] == CSV_KIND:
            if csv is not None:
                remarks.append(f"{path}: a second {CSV_KIND}; passed over")
                continue
            csv = found
        objects.append(found)
    if not objects:
        raise BundleError("no bundle objects found in manifests/")
    if csv is None:
        raise BundleError(f"no csv in bundle: none of the manifests is a {CSV_KIND}")
    return objects, csv


def is_object(value: Object) -> bool:
    """Whether Kubernetes' tools take it for an object; it need not have an API version."""
    kind, version = value.get("kind"), value.get("apiVersion")
    readable = not isinstance(version, str) or version.count("/") < 2
    return bool(kind) and isinstance(kind, str) and readable


def read_metadata(files: Mapping[str, bytes], remarks: list[str]) -> Metadata:
    """Of each kind of file in metadata/ the first counts, whatever its name. Raises BundleError."""
    annotations: Object = {}
    properties: tuple[Object, ...] = ()
    dependencies: tuple[Object, ...] = ()
    passed_over: list[str] = []
    for document in _first_documents(files, METADATA, passed_over):
        if not isinstance(document.content, dict):
            continue
        annotations = annotations or _annotations(document, passed_over)
        properties = properties or _properties(document, passed_over)
        dependencies = dependencies or _dependencies(document, passed_over)
    remarks += passed_over
    if not annotations:
        expected = (
            f"metadata/annotations.yaml says {LABEL_BUNDLE_PACKAGE} and {LABEL_BUNDLE_CHANNELS}"
        )
        raise BundleError(
            "could not find annotations file in metadata/", hint="; ".join([*passed_over, expected])
        )
    channels = annotations.get(LABEL_BUNDLE_CHANNELS, "").split(",")
    return Metadata(
        annotations.get(LABEL_BUNDLE_PACKAGE, ""),
        properties,
        dependencies,
        tuple(name.strip() for name in channels if name.strip()),
        annotations.get(LABEL_BUNDLE_DEFAULT_CHANNEL, ""),
    )


def _annotations(document: _Document, remarks: list[str]) -> Object:
    """Those that speak of the bundle; empty if there are none."""
    found: Object = _read("AnnotationsFile", document, remarks).get("annotations", {})
    return found


def _properties(document: _Document, remarks: list[str]) -> tuple[Object, ...]:
    return tuple(_read("PropertiesFile", document, remarks).get("properties", ()))


def _dependencies(document: _Document, remarks: list[str]) -> tuple[Object, ...]:
    return tuple(_read("DependenciesFile", document, remarks).get("dependencies", ()))


def _read(shape: str, document: _Document, remarks: list[str]) -> Object:
    try:
        return read(shape, document.content, yaml=True)
    except ShapeError as error:
        remarks.append(f"{document.path}: {error}; passed over")
        return {}


def _first_documents(
    files: Mapping[str, bytes], folder: str, remarks: list[str]
) -> Iterator[_Document]:
    """The first document of each file in the folder itself, by name; unreadable ones remarked."""
    for path in sorted(files):
        name = path.removeprefix(folder)
        if not path.startswith(folder) or "/" in name:
            continue
        if folder == MANIFESTS and name.startswith("."):
            continue
        try:
            found = next(iter(load_all(files[path])), None)
        except YamlError as error:
            remarks.append(f"{path}: cannot be read, passed over: {error.message}")
            continue
        yield _Document(path, found)
