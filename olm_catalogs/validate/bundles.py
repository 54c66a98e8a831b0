"""Rules of bundles: name, version, images and properties."""

import base64
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from olm_catalogs.pull_spec import pull_spec_fault
from olm_catalogs.validate.faults import Fault, Group
from olm_content.fbc.records import Record, channel_of, properties
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats.go_text import quote
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import (
    BUNDLE_OBJECT,
    CHANNEL,
    CSV_METADATA,
    GVK,
    GVK_REQUIRED,
    PACKAGE,
    PACKAGE_REQUIRED,
)
from olm_content.versions import BundleVersion, VersionError, parse_bundle_version

PROPERTY_SHAPES: Mapping[str, str] = MappingProxyType(
    {
        PACKAGE: "PackageProperty",
        PACKAGE_REQUIRED: "PackageRequired",
        GVK: "GVK",
        GVK_REQUIRED: "GVK",
        CHANNEL: "ChannelProperty",
        BUNDLE_OBJECT: "BundleObject",
        CSV_METADATA: "CSVMetadata",
    }
)
"""The shape of the values of the property types that OLM defines."""


def check_bundles(group: Group) -> Iterator[Fault]:
    """The faults of all bundles of a package."""
    seen: set[str] = set()
    members = {entry.name for each in group.channels for entry in channel_of(each).entries}
    for bundle in group.bundles:
        subject = f'{group.subject}, bundle "{bundle.name}"'
        if bundle.name in seen:
            yield Fault(bundle.place, subject, "duplicate bundle")
        elif bundle.name not in members:
            yield Fault(bundle.place, subject, "bundle not found in any channel entries")
        seen.add(bundle.name)
        for message in _faults(bundle):
            yield Fault(bundle.place, subject, message)
    yield from _same_versions(group)


def _faults(bundle: Record) -> Iterator[str]:
    if not bundle.name:
        yield "name must be set"
    yield from _property_faults(bundle)
    yield from _package_faults(bundle)
    yield from _image_faults(bundle)


def _property_faults(bundle: Record) -> Iterator[str]:
    for index, item in enumerate(properties(bundle)):
        place = f'properties[{index}] of type "{item["type"]}"'
        if item["value"] is None:
            yield f"{place}: value must be set"
            continue
        shape = PROPERTY_SHAPES.get(item["type"])
        if shape is None:
            continue
        try:
            value = read(shape, item["value"])
        except ShapeError as error:
            yield f"{place}: {error}"
            continue
        if item["type"] == BUNDLE_OBJECT:
            yield from _object_faults(place, value["data"] or "")


def _object_faults(place: str, data: str) -> Iterator[str]:
    try:
        list(load_all(base64.b64decode(data)))
    except YamlError as error:
        yield f"{place}: the object in it cannot be read: {error.message}"


def _package_faults(bundle: Record) -> Iterator[str]:
    found = sum(item["type"] == PACKAGE for item in properties(bundle))
    if found != 1:
        yield f'must have exactly 1 "{PACKAGE}" property, found {found}'
        return
    value = package_property(bundle)
    if value is None:
        return  # reported where its type is looked at
    if value["packageName"] != bundle.package:
        yield f'package does not match "{PACKAGE}" property {quote(value["packageName"])}'
    try:
        version = _version(value)
    except VersionError as error:
        yield f"invalid version {quote(value['version'])}: {error.message}"
        return
    if version.release:
        yield from _release_faults(bundle, version)


def _release_faults(bundle: Record, version: BundleVersion) -> Iterator[str]:
    if version.version.build:
        yield "cannot use build metadata in version with a release version"
    normal = f"{bundle.package}-v{version.version}-{'.'.join(version.release)}"
    if bundle.name != normal:
        yield f"name {quote(bundle.name)} does not match normalized name {quote(normal)}"


def package_property(bundle: Record) -> dict[str, Any] | None:
    """The value of the bundle's `olm.package` property, None when there is none to be read."""
    for item in properties(bundle):
        if item["type"] == PACKAGE and item["value"] is not None:
            try:
                return read("PackageProperty", item["value"])
            except ShapeError:
                return None
    return None


def _version(value: Mapping[str, Any]) -> BundleVersion:
    return parse_bundle_version(value["version"], value.get("release", ""))


def _image_faults(bundle: Record) -> Iterator[str]:
    image = bundle.value["image"]
    if not image and not any(item["type"] == BUNDLE_OBJECT for item in properties(bundle)):
        yield "bundle image must be set"
    fault = pull_spec_fault(image)
    if fault:
        yield f"image: invalid image pull spec {quote(image)}: {fault}"
    for index, related in enumerate(bundle.value.get("relatedImages", ())):
        fault = pull_spec_fault(related["image"])
        if fault:
            image = quote(related["image"])
            yield f"relatedImages[{index}].image: invalid image pull spec {image}: {fault}"


def _same_versions(group: Group) -> Iterator[Fault]:
    names: dict[str, list[Record]] = {}
    for bundle in group.bundles:
        value = package_property(bundle)
        try:
            version = _version(value) if value is not None else None
        except VersionError:
            continue  # reported where the bundle itself is looked at
        if version is not None:
            names.setdefault(_version_text(version), []).append(bundle)
    for version_text, bundles in sorted(names.items()):
        different = sorted({bundle.name for bundle in bundles})
        if len(different) > 1:
            message = f"duplicate version {version_text} in bundles {', '.join(different)}"
            yield Fault(bundles[-1].place, group.subject, message)


def _version_text(version: BundleVersion) -> str:
    release = "-" + ".".join(version.release) if version.release else ""
    return f"{version.version}{release}"
