"""What a catalog says of a package, as `olm show` shows it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from olm_client.catalogs.obstacles import obstacles
from olm_client.catalogs.summarising import csv_metadata, precedence, supported_modes
from olm_content.fbc.documents import Blob
from olm_content.fbc.graph import Graph, GraphChannel, GraphEntry, graph
from olm_content.fbc.packages import property_values, version_text
from olm_content.fbc.reading import Reader
from olm_content.fbc.records import Record, deprecations_of, properties, record
from olm_content.names import (
    BUNDLE,
    CONSTRAINT,
    DEPRECATIONS,
    GVK,
    GVK_REQUIRED,
    MAX_OPENSHIFT_VERSION,
    PACKAGE,
    PACKAGE_REQUIRED,
    REQUIREMENTS,
)
from olm_content.ranges import parse_extension_range
from olm_content.versions import Version
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm.migrate import migrate

MIGRATION = "bundle-object-to-csv-metadata"
Details = dict[str, Any]


def records_of(blobs: Iterable[bytes]) -> list[Record]:
    """The records of a package. Raises RecordError for values of wrong types."""
    found = []
    for raw in blobs:
        value = orjson.loads(raw)
        texts = (value.get(key) for key in ("schema", "package", "name"))
        schema, package, name = (text if isinstance(text, str) else "" for text in texts)
        found.append(record(Blob(schema, package, name, raw)))
    return list(migrate(found, MIGRATION))


def package_details(records: Sequence[Record], *, version: str, channel: str) -> Details:
    """What there is to know of a package and of one bundle of it.

    The bundle is the newest in the range `version`, of the given or the default channel; with a
    version and no channel, of any. Raises TerminalError where there is none.
    """
    about = next((r.value for r in records if r.schema == PACKAGE), {})
    drawn = graph(records)
    default = about.get("defaultChannel", "")
    bundle = _chosen(records, drawn, version, channel, default)
    csv = Reader(csv_metadata(bundle.value))
    return {
        "package": records[0].package,
        "displayName": csv.text("displayName"),
        "provider": csv.inner("provider").text("name"),
        "keywords": list(csv.texts("keywords")),
        "description": about.get("description") or csv.text("description"),
        "defaultChannel": default,
        "channels": [_channel(each, default) for each in drawn.channels],
        "versions": _versions(records, drawn),
        "deprecations": list(_deprecations(records)),
        "bundle": bundle_details(bundle),
    }


def bundle_details(bundle: Record) -> Details:
    """What a catalog says of a bundle; its permissions are only in its image."""
    metadata = csv_metadata(bundle.value)
    csv = Reader(metadata)
    kinds = [item["type"] for item in properties(bundle) if item["type"] in REQUIREMENTS]
    modes = supported_modes(csv)
    maximum = property_values(bundle.value, MAX_OPENSHIFT_VERSION)
    return {
        "name": bundle.name,
        "version": version_text(bundle.value),
        "image": bundle.value["image"],
        "description": csv.inner("annotations").text("description"),
        "minKubeVersion": csv.text("minKubeVersion"),
        "maxOpenShiftVersion": str(maximum[0]) if maximum else "",
        "installModes": modes,
        "apis": [_gvk(value) for value in property_values(bundle.value, GVK)],
        "requiredAPIs": [_gvk(value) for value in property_values(bundle.value, GVK_REQUIRED)],
        "requiredPackages": property_values(bundle.value, PACKAGE_REQUIRED),
        "constraints": property_values(bundle.value, CONSTRAINT),
        "obstacles": list(obstacles(kinds, modes, known=bool(metadata))),
        "relatedImages": bundle.value.get("relatedImages") or [],
        "permissions": None,
    }


def _chosen(
    records: Sequence[Record], drawn: Graph, version: str, channel: str, default: str
) -> Record:
    bundles = {r.name: r for r in records if r.schema == BUNDLE}
    named = channel or ("" if version else default)
    channels = [each for each in drawn.channels if named in {"", each.name}]
    if named and not channels:
        names = (each.name for each in drawn.channels)
        hint = suggestion_or_all(named, names, none="there is none")
        raise TerminalError(f'no channel "{named}"', hint=hint)
    if not version:
        tops = [name for each in channels for name in each.newest_heads() if name in bundles]
        if tops:
            return bundles[tops[0]]
    entries = [entry for each in channels for entry in each.entries if entry.name in bundles]
    accepted = parse_extension_range(version) if version else None
    fitting = [entry for entry in entries if accepted is None or accepted.matches(entry.version)]
    if not fitting:
        known = ", ".join(str(each) for each in _distinct(entries)[:10]) or "none"
        raise TerminalError(f"no version matches {version!r}", hint=f"versions: {known}")
    return bundles[max(fitting, key=lambda entry: entry.version.key).name]


def _distinct(entries: Iterable[GraphEntry]) -> list[Version]:
    return sorted({e.version for e in entries}, key=lambda version: version.key, reverse=True)


def _channel(channel: GraphChannel, default: str) -> Details:
    versions = {entry.name: str(entry.version) for entry in channel.entries}
    tops = channel.newest_heads()
    return {
        "name": channel.name,
        "default": channel.name == default,
        "head": tops[0] if tops else "",
        "version": versions[tops[0]] if tops else "",
        "entries": len(channel.entries),
        "deprecated": channel.deprecated,
    }


def _versions(records: Sequence[Record], drawn: Graph) -> list[Details]:
    """All bundles, newest first."""

    bundles = sorted(
        (record for record in records if record.schema == BUNDLE),
        key=lambda bundle: precedence(version_text(bundle.value)),
        reverse=True,
    )
    return [
        {
            "name": bundle.name,
            "version": version_text(bundle.value),
            "channels": [
                channel.name
                for channel in drawn.channels
                if any(entry.name == bundle.name for entry in channel.entries)
            ],
        }
        for bundle in bundles
    ]


def _deprecations(records: Iterable[Record]) -> Iterator[Details]:
    for each in records:
        if each.schema == DEPRECATIONS:
            yield from (found._asdict() for found in deprecations_of(each))


def _gvk(value: Any) -> Details:
    given = value if isinstance(value, Mapping) else {}
    return {key: given.get(key, "") for key in ("group", "version", "kind")}
