"""From the objects of a catalog to the model. What has the wrong type is noted in `faults`.

Held against an object are only wrong types and contradicting duplicates. What upstream lets pass
(a missing `olm.package`, a version nobody can read, entries without bundle) passes here too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from olm_content.fbc.model import Bundle, Channel, Deprecation, Entry, Package
from olm_content.fbc.reading import Reader
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE, REQUIREMENTS, SCHEMAS
from olm_content.versions import BundleVersion, VersionError, parse_bundle_version

Blob = Mapping[str, Any]
"""An object of a catalog, decoded."""


def package_of(blob: Blob) -> Any:
    """What names the package that an object belongs to; `olm.package` objects are named so."""
    reader = Reader(blob)
    return reader.get("name" if reader.get("schema") == PACKAGE else "package")


def read_package(
    name: str, blobs: Iterable[Blob], faults: list[str], *, release_field: bool = False
) -> Package | None:
    """The package of that name, None if no object belongs to it; others are passed over.

    `release_field` (gate BundleReleaseSupport): the `release` of an `olm.package` property counts,
    and no release is written into the version.
    """
    own: dict[str, list[Blob]] = {schema: [] for schema in SCHEMAS}
    found = False
    for blob in blobs:
        if package_of(blob) != name:
            continue
        found = True
        own.get(str(Reader(blob).get("schema")), []).append(blob)
    if not found:
        return None
    return Package(
        name=name,
        default_channel=_default_channel(own[PACKAGE], faults),
        channels=tuple(map(read_channel, _distinct(own[CHANNEL], faults))),
        bundles=tuple(_bundle(each, release_field) for each in _distinct(own[BUNDLE], faults)),
        deprecations=_deprecations(own[DEPRECATIONS], faults),
    )


def _distinct(blobs: list[Blob], faults: list[str]) -> Iterator[Reader]:
    """Readers over the objects of one schema, one of each name; different ones are a fault."""
    seen: dict[str, Blob] = {}
    for blob in blobs:
        name = Reader(blob).text("name")
        schema = Reader(blob).get("schema")
        if name not in seen:
            seen[name] = blob
            yield Reader(blob, faults, f"{schema} {quote(name)}: ")
        elif seen[name] != blob:
            faults.append(f"{schema} {quote(name)}: there are two different ones of this name")


def _default_channel(blobs: list[Blob], faults: list[str]) -> str:
    return next((reader.text("defaultChannel") for reader in _distinct(blobs, faults)), "")


def read_channel(reader: Reader) -> Channel:
    """The channel of an `olm.channel` object."""
    return Channel(
        name=reader.text("name"),
        entries=tuple(
            Entry(
                name=entry.text("name"),
                replaces=entry.text("replaces"),
                skips=entry.texts("skips"),
                skip_range=entry.text("skipRange"),
            )
            for entry in reader.objects("entries")
        ),
    )


def _bundle(reader: Reader, release_field: bool) -> Bundle:
    name = reader.text("name")
    types: list[str] = []
    package_property: Any = None
    for item in reader.objects("properties"):
        kind = item.text("type")
        if kind == PACKAGE and kind not in types:
            package_property = item.get("value")
        types.append(kind)
    version, fault = None, f"no package property found in bundle {quote(name)}"
    if PACKAGE in types:
        version, fault = _version(package_property, release_field)
    return Bundle(
        name=name,
        image=reader.text("image"),
        version=version,
        version_fault=fault,
        dependencies=tuple(kind for kind in types if kind in REQUIREMENTS),
    )


def _version(value: Any, release_field: bool) -> tuple[BundleVersion | None, str]:
    """Version and release in an `olm.package` property, or why there is none."""
    faults: list[str] = []
    reader = Reader({"value": value}, faults).inner("value")
    version, release = reader.text("version"), reader.text("release")
    if faults:
        return None, f"error unmarshalling package property: {faults[0]}"
    explicit = release if release_field and reader.get("release") is not None else None
    try:
        parsed = parse_bundle_version(version, explicit)
    except VersionError as error:
        return None, error.message
    return (replace(parsed, embedded=False) if release_field else parsed), ""


def _deprecations(blobs: list[Blob], faults: list[str]) -> tuple[Deprecation, ...]:
    """The entries of the first object; a package has at most one."""
    readers = (Reader(blob, faults, f"{DEPRECATIONS}: ") for blob in blobs[:1])
    return tuple(each for reader in readers for each in read_deprecations(reader))


def read_deprecations(reader: Reader) -> Iterator[Deprecation]:
    """What an `olm.deprecations` object deprecates."""
    for entry in reader.objects("entries"):
        reference = entry.inner("reference")
        yield Deprecation(
            schema=reference.text("schema"),
            name=reference.text("name"),
            message=entry.text("message"),
        )


def property_values(bundle: Blob, kind: str) -> list[Any]:
    """The values of the properties of a type that an `olm.bundle` object has."""
    items = Reader(bundle).objects("properties")
    return [item.get("value") for item in items if item.get("type") == kind]


def version_text(bundle: Blob) -> str:
    """The version as the first `olm.package` property gives it; empty without."""
    value = next(iter(property_values(bundle, PACKAGE)), None)
    return Reader(value).text("version") if isinstance(value, Mapping) else ""
