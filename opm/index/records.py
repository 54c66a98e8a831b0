"""From the tables of an SQLite catalog to the records of a file-based one. Pure.

As upstream's catalog tool converts them, so that both give the same records.
"""

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from olm_content.fbc.records import Record
from olm_content.fbc.shapes import ShapeError, read
from olm_content.names import (
    BUNDLE,
    BUNDLE_OBJECT,
    CHANNEL,
    CSV_KIND,
    DEPRECATED,
    GVK,
    GVK_REQUIRED,
    PACKAGE,
    PACKAGE_REQUIRED,
)
from olm_runtime.errors import TerminalError
from opm.index.tables import BundleRow, ChannelRow, EntryRow, PackageRow, Tables

_DECODER = json.JSONDecoder()
_VISIBLE = re.compile(r"\S")

Object = dict[str, Any]
Place = tuple[str, str]
"""A package and a channel."""


def to_records(tables: Tables) -> list[Record]:
    """The records, in writing order. Raises TerminalError for values that are none."""
    bundles = {row.name: row for row in tables.bundles}
    deprecated = {row.bundle for row in tables.properties if row.kind == DEPRECATED}
    rows = [row for row in tables.entries if row.bundle in bundles and row.bundle not in deprecated]
    listed = _listed(rows, tables, bundles)
    homes = {name: package for (package, _), entries in listed.items() for name in entries}
    convert = _Bundles(tables)
    records = [_package(row, tables, bundles) for row in tables.packages]
    records += [_channel(row, listed) for row in tables.channels]
    records += [convert.record(bundles[name], package) for name, package in homes.items()]
    return sorted(records, key=_place)


def _place(each: Record) -> tuple[str, int, str]:
    return each.package, (PACKAGE, CHANNEL, BUNDLE).index(each.schema), each.name


def _listed(
    rows: Iterable[EntryRow], tables: Tables, bundles: Mapping[str, BundleRow]
) -> dict[Place, dict[str, Object]]:
    """The entries of channels by name, each with what it updates."""
    names = {row.number: row.bundle for row in tables.entries}
    chain = _chain(tables.entries)
    found: dict[Place, dict[str, Object]] = defaultdict(dict)
    for row in sorted(rows, key=lambda each: each.number):
        entry = found[row.package, row.channel].setdefault(row.bundle, {"name": row.bundle})
        if bundles[row.bundle].skip_range:
            entry["skipRange"] = bundles[row.bundle].skip_range
        updated = names.get(row.replaces, "") if row.replaces is not None else ""
        if not updated:
            continue
        if row.number in chain:
            entry["replaces"] = max(entry.get("replaces", ""), updated)
        else:
            entry.setdefault("skips", []).append(updated)
    return found


def _chain(entries: Iterable[EntryRow]) -> frozenset[int]:
    """The entries that lead on from those of the least depth."""
    updates = {row.number: row.replaces for row in entries}
    least = min((row.depth for row in entries), default=0)
    pending = [row.number for row in entries if row.depth == least]
    reached: set[int] = set()
    while pending:
        number = pending.pop()
        if number in reached or number not in updates:
            continue
        reached.add(number)
        following = updates[number]
        if following is not None:
            pending.append(following)
    return frozenset(reached)


def _channel(row: ChannelRow, listed: Mapping[Place, Mapping[str, Object]]) -> Record:
    entries = listed.get((row.package, row.name), {})
    value = {
        "schema": CHANNEL,
        "name": row.name,
        "package": row.package,
        "entries": [entries[name] for name in sorted(entries)],
    }
    return Record(CHANNEL, row.package, row.name, read("Channel", value))


def _package(row: PackageRow, tables: Tables, bundles: Mapping[str, BundleRow]) -> Record:
    value: Object = {
        "schema": PACKAGE,
        "name": row.name,
        "defaultChannel": row.default_channel,
        "icon": _icon(row, tables, bundles),
    }
    return Record(PACKAGE, row.name, row.name, read("Package", value))


def _icon(row: PackageRow, tables: Tables, bundles: Mapping[str, BundleRow]) -> Object | None:
    """The icon of the bundle that leads the default channel."""
    for channel in tables.channels:
        if (channel.package, channel.name) == (row.name, row.default_channel):
            head = bundles.get(channel.head)
            csv = (_parsed(head.csv, head.name) if head.csv else _csv(head)) if head else {}
            icons = (csv.get("spec") or {}).get("icon")
            if icons and icons[0].get("base64data"):
                data = icons[0]["base64data"].replace(" ", "")
                return {"base64data": data, "mediatype": icons[0].get("mediatype") or ""}
    return None


def _csv(row: BundleRow) -> Object:
    """The ClusterServiceVersion among the objects; empty without."""
    for text in _object_texts(row):
        found = _parsed(text, row.name)
        if found.get("kind") == CSV_KIND:
            return found
    return {}


def _object_texts(row: BundleRow) -> Iterator[str]:
    """Each object as it is written: what is embedded of it must not change."""
    position, text = 0, row.objects
    while found := _VISIBLE.search(text, position):
        try:
            _, end = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError) as error:
            raise TerminalError(f'bundle "{row.name}": its objects are no JSON: {error}') from error
        yield text[found.start() : end]
        position = end


def _parsed(text: str, bundle: str) -> Object:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise TerminalError(f'bundle "{bundle}": {error}: {text[:80]}') from error
    if not isinstance(found, dict):
        raise TerminalError(f'bundle "{bundle}": expected an object: {text[:80]}')
    return found


class _Bundles:
    """Converts bundles, with what other tables say of them looked up by name."""

    def __init__(self, tables: Tables) -> None:
        self.properties: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.dependencies: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.images: dict[str, set[str]] = defaultdict(set)
        for row in tables.properties:
            self.properties[row.bundle].append((row.kind, row.value))
        for row in tables.dependencies:
            self.dependencies[row.bundle].append((row.kind, row.value))
        for name, image in tables.related_images:
            self.images[name].add(image)

    def record(self, row: BundleRow, package: str) -> Record:
        """The record of a bundle. Raises TerminalError."""
        try:
            properties = sorted({*self._properties(row, package)})
            value = {
                "schema": BUNDLE,
                "name": row.name,
                "package": package,
                "image": row.image,
                "properties": [
                    {"type": kind, "value": orjson.loads(text)} for kind, text in properties
                ],
                "relatedImages": self._related_images(row),
            }
            return Record(BUNDLE, package, row.name, read("Bundle", value))
        except (ShapeError, orjson.JSONDecodeError) as error:
            raise TerminalError(f'bundle "{row.name}": {error}') from error

    def _properties(self, row: BundleRow, package: str) -> Iterator[tuple[str, str]]:
        """Types and values as text: equal ones count once."""
        has_package = False
        for kind, text in self.properties[row.name]:
            has_package |= kind == PACKAGE
            value = read("GVK", orjson.loads(text)) if kind == GVK else orjson.loads(text)
            yield kind, _text(value)
        for kind, text in self.dependencies[row.name]:
            value = orjson.loads(text)
            if kind == GVK:
                yield GVK_REQUIRED, _text(read("GVK", value))
            elif kind == PACKAGE:
                needed = read("PackageProperty", value)
                ranged = {"packageName": needed["packageName"], "versionRange": needed["version"]}
                yield PACKAGE_REQUIRED, _text(ranged)
        if not has_package:
            yield PACKAGE, _text({"packageName": package, "version": row.version})
        for text in _object_texts(row):
            yield BUNDLE_OBJECT, _text({"data": base64.b64encode(text.encode()).decode()})

    def _related_images(self, row: BundleRow) -> list[Object]:
        spec = _csv(row).get("spec") or {}
        listed = [read("Image", each) for each in spec.get("relatedImages") or ()]
        more = self.images[row.name] - {each["image"] for each in listed}
        return listed + [{"name": "", "image": image} for image in sorted(more)]


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
