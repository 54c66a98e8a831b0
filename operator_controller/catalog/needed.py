"""The parts of a blob that choosing a bundle needs: a hundredth of what catalogs carry."""

from collections.abc import Mapping
from typing import Any

from operator_controller.catalog.model import UNSUPPORTED_DEPENDENCIES, Schema
from operator_controller.catalog.reading import Reader

_KEYS: Mapping[str, frozenset[str]] = {
    Schema.PACKAGE: frozenset({"schema", "name", "defaultchannel"}),
    Schema.CHANNEL: frozenset({"schema", "package", "name", "entries"}),
    Schema.BUNDLE: frozenset({"schema", "package", "name", "image", "properties"}),
    Schema.DEPRECATIONS: frozenset({"schema", "package", "name", "entries"}),
}


def needed(blob: Mapping[str, Any], package: str) -> dict[str, Any] | None:
    """The blob without what `build_package` does not look at; None if it looks at nothing of it.

    Whatever `build_package` makes of the blobs, it makes of these, faults and their places
    included; only blobs of one name that differ in what is left out are the same now.
    """
    schema = Reader(blob).get("schema")
    owner = Reader(blob).get("name" if schema == Schema.PACKAGE else "package")
    if owner != package:
        return None
    keys = _KEYS.get(str(schema), frozenset({"schema", "package"}))
    kept = {key: value for key, value in blob.items() if key.casefold() in keys}
    for key, value in kept.items():
        if key.casefold() == "properties" and isinstance(value, list):
            kept[key] = [_property(item) for item in value]
    return kept


def _property(item: Any) -> Any:
    """The property where it counts or has a wrong shape; else its place, empty."""
    if not isinstance(item, Mapping):
        return item
    kind = Reader(item).get("type")
    if kind in UNSUPPORTED_DEPENDENCIES:
        return {"type": kind}
    return item if kind == Schema.PACKAGE or not isinstance(kind, str) else {}
