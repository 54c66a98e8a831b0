"""The parts of an object that `read_package` looks at: a hundredth of what catalogs carry."""

from collections.abc import Mapping
from typing import Any

from olm_content.fbc.packages import package_of
from olm_content.fbc.reading import Reader
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE, REQUIREMENTS

_KEYS: Mapping[str, frozenset[str]] = {
    PACKAGE: frozenset({"schema", "name", "defaultchannel"}),
    CHANNEL: frozenset({"schema", "package", "name", "entries"}),
    BUNDLE: frozenset({"schema", "package", "name", "image", "properties"}),
    DEPRECATIONS: frozenset({"schema", "package", "name", "entries"}),
}


def needed(blob: Mapping[str, Any], package: str) -> dict[str, Any] | None:
    """The object without what `read_package` does not look at; None if it is of another package.

    Whatever `read_package` makes of the objects, it makes of these, faults and their places
    included; only objects of one name that differ in what is left out are the same now.
    """
    if package_of(blob) != package:
        return None
    keys = _KEYS.get(str(Reader(blob).get("schema")), frozenset({"schema", "package"}))
    parts = {key: value for key, value in blob.items() if key.casefold() in keys}
    for key, value in parts.items():
        if key.casefold() == "properties" and isinstance(value, list):
            parts[key] = [_property(item) for item in value]
    return parts


def _property(item: Any) -> Any:
    """The property where it counts or has a wrong shape; else its place, empty."""
    if not isinstance(item, Mapping):
        return item
    kind = Reader(item).get("type")
    if kind in REQUIREMENTS:
        return {"type": kind}
    return item if kind == PACKAGE or not isinstance(kind, str) else {}
