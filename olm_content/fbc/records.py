"""A catalog as it is written: its records, in the shapes that OLM defines, in writing order.

The order and what a record keeps are upstream's, so that the same catalog gives the same text:
per package (by name) the package, its channels and bundles by name, records of other schemas by
schema, then deprecations; at the end the records that belong to no package.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from olm_content.fbc.documents import EMPTY, Blob
from olm_content.fbc.model import Channel, Deprecation
from olm_content.fbc.packages import property_values, read_channel, read_deprecations
from olm_content.fbc.reading import Reader
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, BUNDLE_OBJECT, CHANNEL, CSV_METADATA, DEPRECATIONS, PACKAGE
from olm_runtime.errors import TerminalError

_SHAPES = {PACKAGE: "Package", CHANNEL: "Channel", BUNDLE: "Bundle", DEPRECATIONS: "Deprecations"}
_ORDER = {PACKAGE: 0, CHANNEL: 1, BUNDLE: 2, DEPRECATIONS: 4}
_OTHER = 3


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a record is written: the file's path from the catalog's root, and its first line."""

    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.path else ""


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a catalog: `value` is what is written of it, keys in their order."""

    schema: str
    package: str
    name: str
    value: dict[str, Any]
    place: Place = field(default=Place(), compare=False)


class RecordError(TerminalError):
    """A record that is none: `place` says where it stands."""

    def __init__(self, place: Place, fault: str) -> None:
        super().__init__(f"{place}: {fault}" if place.path else fault)
        self.place = place
        self.fault = fault


def record(blob: Blob, place: Place = Place()) -> Record:
    """The record of a blob. Raises RecordError for a missing schema and values of wrong types."""
    if not blob.schema:
        empty = blob.raw == EMPTY
        raise RecordError(place, "an empty document" if empty else "the object has no schema")
    value = orjson.loads(blob.raw)
    shape = _SHAPES.get(blob.schema)
    try:
        shown = read(shape, value) if shape else value
    except ShapeError as error:
        raise RecordError(place, f"{blob.schema} {blob.name or blob.package!r}: {error}") from error
    package = blob.name if blob.schema == PACKAGE else blob.package
    return Record(blob.schema, package, blob.name, shown, place)


def channel_of(each: Record) -> Channel:
    """What an `olm.channel` record says."""
    return read_channel(Reader(each.value))


def deprecations_of(each: Record) -> tuple[Deprecation, ...]:
    """What an `olm.deprecations` record says."""
    return tuple(read_deprecations(Reader(each.value)))


def package_value(bundle: Record) -> Mapping[str, Any]:
    """The value of the bundle's `olm.package` property.

    Raises TerminalError unless there is exactly one, and an object.
    """
    found = property_values(bundle.value, PACKAGE)
    if len(found) != 1 or not isinstance(found[0], Mapping):
        raise TerminalError(f'bundle {quote(bundle.name)} must have exactly 1 "{PACKAGE}" property')
    return found[0]


def properties(holder: Record) -> list[dict[str, Any]]:
    """The properties of a bundle, each with `type` and `value`."""
    found: list[dict[str, Any]] = holder.value.get("properties") or []
    return found


def with_properties(holder: Record, given: list[dict[str, Any]]) -> Record:
    """The record with other properties."""
    value = {**holder.value, "properties": given}
    return replace(holder, value=read(_SHAPES[BUNDLE], value))


def in_order(records: Iterable[Record]) -> Iterator[Record]:
    """The records in writing order."""
    packaged: list[Record] = []
    loose: list[Record] = []
    for each in records:
        (packaged if each.package else loose).append(each)
    # Records of no package keep their order only where OLM knows nothing of them: an olm.* record
    # without a package is written nowhere, as upstream has it, and `opm validate` refuses it.
    yield from sorted(packaged, key=_sort_key)
    yield from (each for each in loose if each.schema not in _SHAPES)


def _sort_key(each: Record) -> tuple[str, int, str]:
    rank = _ORDER.get(each.schema, _OTHER)
    by_name = each.schema in {CHANNEL, BUNDLE}
    return each.package, rank, each.name if by_name else each.schema


def rendered(each: Record) -> Record:
    """The record as `opm render` shows it: large properties last, related images by image."""
    if each.schema != BUNDLE:
        return each
    value = dict(each.value)
    if "properties" in value:
        value["properties"] = sorted(value["properties"], key=_is_large)
    if "relatedImages" in value:
        value["relatedImages"] = sorted(value["relatedImages"], key=lambda image: image["image"])
    return replace(each, value=value)


def _is_large(item: dict[str, Any]) -> bool:
    return item["type"] in {BUNDLE_OBJECT, CSV_METADATA}
