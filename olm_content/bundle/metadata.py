"""What the files of `metadata/` say of a bundle: package, channels, properties, dependencies."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from olm_content.bundle.files import (
    ANNOTATIONS_FILE,
    METADATA,
    BundleError,
    files_of,
    first_documents,
)
from olm_content.bundle.go_metadata import (
    MetadataError,
    field_of,
    first_document,
    is_folder,
    spelled,
    wrong_json,
)
from olm_content.bundle.mode import Mode
from olm_content.fbc.shapes import ShapeError, read
from olm_content.names import (
    LABEL_BUNDLE_CHANNELS,
    LABEL_BUNDLE_DEFAULT_CHANNEL,
    LABEL_BUNDLE_PACKAGE,
)

Object = dict[str, Any]


class Metadata(NamedTuple):
    """All but the package is read in LENIENT mode only.

    Properties and dependencies have a `type`, and a `value` if they were given one.
    """

    package: str
    properties: tuple[Object, ...] = ()
    dependencies: tuple[Object, ...] = ()
    channels: tuple[str, ...] = ()
    default_channel: str = ""


def read_metadata(files: Mapping[str, bytes], mode: Mode, remarks: list[str]) -> Metadata:
    """The metadata of a bundle; what a mode passes over is added to `remarks`.

    Raises BundleError.
    """
    return Metadata(_package(files)) if mode.metadata_by_name else _by_content(files, remarks)


_FOLDERS = "a registry+v1 bundle has the folders manifests/ and metadata/"


def _package(files: Mapping[str, bytes]) -> str:
    """The package that annotations.yaml names, empty if none."""
    if is_folder(files, ANNOTATIONS_FILE):
        raise BundleError(f"read {ANNOTATIONS_FILE}: is a directory", hint=_FOLDERS)
    if ANNOTATIONS_FILE not in files:
        raise BundleError(f"open {ANNOTATIONS_FILE}: no such file or directory", hint=_FOLDERS)
    try:
        content = first_document(files[ANNOTATIONS_FILE], "registry.AnnotationsFile")
        annotations = field_of(content, "annotations")
        if annotations is None:
            return ""
        if not isinstance(annotations, dict):
            raise wrong_json(annotations, "AnnotationsFile.annotations", "registry.Annotations")
        return _plain_text(field_of(annotations, LABEL_BUNDLE_PACKAGE))
    except MetadataError as error:
        raise BundleError(str(error), hint=f"correct {ANNOTATIONS_FILE}") from error


def _plain_text(value: Any) -> str:
    """Text where text is expected: what else YAML may make of it is spelled out."""
    if isinstance(value, list | dict):
        raise wrong_json(value, f"Annotations.annotations.{LABEL_BUNDLE_PACKAGE}", "string")
    return "" if value is None else spelled(value)


def _by_content(files: Mapping[str, bytes], remarks: list[str]) -> Metadata:
    """Of each kind of file the first counts, whatever its name."""
    found: dict[str, Any] = {}
    passed_over: list[str] = []
    for path, content in first_documents(files, files_of(files, METADATA), passed_over):
        for field, shape in _SHAPES.items():
            if not isinstance(content, dict) or found.get(field):
                continue
            try:
                found |= read(shape, content, yaml=True)
            except ShapeError as error:
                passed_over.append(f"{path}: {error}; passed over")
    remarks += passed_over
    annotations = found.get("annotations")
    if not annotations:
        expected = f"{ANNOTATIONS_FILE} says {LABEL_BUNDLE_PACKAGE} and {LABEL_BUNDLE_CHANNELS}"
        raise BundleError(
            "could not find annotations file in metadata/", hint="; ".join([*passed_over, expected])
        )
    channels = annotations.get(LABEL_BUNDLE_CHANNELS, "").split(",")
    return Metadata(
        annotations.get(LABEL_BUNDLE_PACKAGE, ""),
        tuple(found.get("properties", ())),
        tuple(found.get("dependencies", ())),
        tuple(name.strip() for name in channels if name.strip()),
        annotations.get(LABEL_BUNDLE_DEFAULT_CHANNEL, ""),
    )


_SHAPES = {
    "annotations": "AnnotationsFile",
    "properties": "PropertiesFile",
    "dependencies": "DependenciesFile",
}
"""The type of a file by the field that it is known by."""
