"""The blobs of a catalog to one package, every fault of their shape collected.

Held against a blob are only wrong types and contradicting duplicates. What upstream lets pass (a
missing `olm.package`, a version nobody can read, entries without bundle) passes here too: the
bundle concerned is then never chosen where it matters, and the explanation says so.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from olm_content.formats.go_text import quote
from olm_content.versions import BundleVersion, VersionError, parse_bundle_version
from olm_runtime.errors import TransientError
from operator_controller.catalog.model import (
    UNSUPPORTED_DEPENDENCIES,
    Bundle,
    Channel,
    Deprecation,
    Entry,
    Package,
    Schema,
)
from operator_controller.catalog.reading import Reader

MAX_FAULTS_TOLD = 5


class BrokenPackageError(TransientError):
    """A package whose blobs have the wrong shape: `faults`, each with its place, in order.

    Transient: the next content of the catalog may be right.
    """

    def __init__(self, package: str, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        told = list(self.faults[:MAX_FAULTS_TOLD])
        if len(self.faults) > len(told):
            told.append(f"and {len(self.faults) - len(told)} more")
        super().__init__(
            f"error loading package {quote(package)}: {'; '.join(told)}",
            hint="the catalog needs repair by its maintainer; `opm validate` finds such faults",
        )


def build_package(
    name: str, blobs: Iterable[Mapping[str, Any]], *, release_field: bool = False
) -> Package | None:
    """The package of that name, None if no blob belongs to it. Raises BrokenPackageError.

    `blobs` are decoded JSON objects of a catalog; those of other packages are passed over.
    `release_field` (gate BundleReleaseSupport): the `release` of an `olm.package` property counts,
    and no release is written into the version.
    """
    faults: list[str] = []
    own = {schema: list[Mapping[str, Any]]() for schema in Schema}
    others = False
    for blob in blobs:
        schema = _schema_in_package(blob, name)
        if schema is None:
            continue
        if schema in own:
            own[Schema(schema)].append(blob)
        others = True
    if not others:
        return None
    package = Package(
        name=name,
        default_channel=_default_channel(own[Schema.PACKAGE], faults),
        channels=tuple(_channel(r) for r in _distinct(own[Schema.CHANNEL], faults)),
        bundles=tuple(_bundle(r, release_field) for r in _distinct(own[Schema.BUNDLE], faults)),
        deprecations=_deprecations(own[Schema.DEPRECATIONS], faults),
    )
    if faults:
        raise BrokenPackageError(name, faults)
    return package


def _schema_in_package(blob: Mapping[str, Any], package: str) -> str | None:
    """The schema of the blob if it belongs to the package; `olm.package` blobs name it."""
    schema = Reader(blob).get("schema")
    key = "name" if schema == Schema.PACKAGE else "package"
    return str(schema) if Reader(blob).get(key) == package else None


def _distinct(blobs: list[Mapping[str, Any]], faults: list[str]) -> Iterator[Reader]:
    """Readers over the blobs of one schema; one of each name, and names that stand for two told."""
    seen: dict[str, Mapping[str, Any]] = {}
    for blob in blobs:
        name = Reader(blob).text("name")
        schema = Reader(blob).get("schema")
        if name not in seen:
            seen[name] = blob
            yield Reader(blob, faults, f"{schema} {quote(name)}: ")
        elif seen[name] != blob:
            faults.append(f"{schema} {quote(name)}: there are two different ones of this name")


def _default_channel(blobs: list[Mapping[str, Any]], faults: list[str]) -> str:
    return next((reader.text("defaultChannel") for reader in _distinct(blobs, faults)), "")


def _channel(reader: Reader) -> Channel:
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
        if kind == Schema.PACKAGE and kind not in types:
            package_property = item.get("value")
        types.append(kind)
    version, fault = None, f"no package property found in bundle {quote(name)}"
    if Schema.PACKAGE in types:
        version, fault = _version(package_property, release_field)
    return Bundle(
        name=name,
        image=reader.text("image"),
        version=version,
        version_fault=fault,
        dependencies=tuple(kind for kind in types if kind in UNSUPPORTED_DEPENDENCIES),
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


def _deprecations(blobs: list[Mapping[str, Any]], faults: list[str]) -> tuple[Deprecation, ...]:
    """The entries of the first blob; a package has at most one."""
    if not blobs:
        return ()
    deprecations: list[Deprecation] = []
    for entry in Reader(blobs[0], faults, f"{Schema.DEPRECATIONS}: ").objects("entries"):
        reference = entry.inner("reference")
        deprecations.append(
            Deprecation(
                schema=reference.text("schema"),
                name=reference.text("name"),
                message=entry.text("message"),
            )
        )
    return tuple(deprecations)
