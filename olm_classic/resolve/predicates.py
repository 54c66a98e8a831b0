"""What bundles require of others: a text for messages, and a test of one entry."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from olm_classic.resolve.cel_rules import compile_rule
from olm_classic.resolve.entries import Entry, Property
from olm_classic.resolve.errors import ResolutionError
from olm_content.formats.go_text import quote
from olm_content.ranges.errors import RangeError
from olm_content.ranges.skip import parse_skip_range

MAX_CONSTRAINT = 2 << 16
"""Bytes of the JSON of an `olm.constraint`."""
MAX_DEPTH = 64

KEYS: Mapping[str, frozenset[str]] = {
    "olm.constraint": frozenset({"failureMessage", "cel", "gvk", "package", "all", "any", "not"}),
    "gvk": frozenset({"group", "kind", "version"}),
    "package": frozenset({"packageName", "versionRange"}),
    "cel": frozenset({"rule"}),
    "all": frozenset({"constraints"}),
    "any": frozenset({"constraints"}),
    "not": frozenset({"constraints"}),
}


@dataclass(frozen=True, slots=True)
class Predicate:
    """`text` is how messages show it; `holds` tells whether an entry meets it."""

    text: str
    holds: Callable[[Entry], bool]


def requirements(properties: tuple[Property, ...]) -> Iterator[tuple[str, Predicate]]:
    """Each requirement once, in order, after what tells it from others.

    Raises ResolutionError for one that cannot be read.
    """
    seen = set[str]()
    for each in properties:
        kind, value = str(each.get("type")), each.get("value")
        if kind not in READERS:
            continue
        key = kind + json.dumps(value, sort_keys=True)
        if key not in seen:
            seen.add(key)
            yield key, READERS[kind](value)


def _gvk(value: Any) -> Predicate:
    given = _object(value)
    api = tuple(str(given.get(key) or "") for key in ("group", "version", "kind"))
    text = f"providing an API with group: {api[0]}, version: {api[1]}, kind: {api[2]}"
    return Predicate(text, lambda entry: api in entry.apis)


def _package(value: Any) -> Predicate:
    given = _object(value)
    name, text = str(given.get("packageName") or ""), str(given.get("versionRange") or "")
    try:
        accepted = parse_skip_range(text)
    except RangeError as error:
        raise ResolutionError(error.message) from error

    def holds(entry: Entry) -> bool:
        return (
            entry.of_package(name) and entry.version is not None and accepted.matches(entry.version)
        )

    return Predicate(f"with package: {name} and with version in range: {text}", holds)


def _label(value: Any) -> Predicate:
    label = str(_object(value).get("label") or "")

    def holds(entry: Entry) -> bool:
        values = (p.get("value") for p in entry.properties if p.get("type") == "olm.label")
        return any(isinstance(v, Mapping) and v.get("label") == label for v in values)

    return Predicate(f"with label: {label}", holds)


def _constraint(value: Any) -> Predicate:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_CONSTRAINT:
        raise ResolutionError(
            "parse olm.constraint: olm.constraint value is greater than max constraint size "
            f"{MAX_CONSTRAINT} bytes"
        )
    _check_keys(value, "olm.constraint", 0)
    return _converted(value)


def _check_keys(value: Any, shape: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ResolutionError(f"parse olm.constraint: nested more than {MAX_DEPTH} deep")
    for key, inner in _object(value).items():
        if key not in KEYS[shape]:
            raise ResolutionError(f"parse olm.constraint: json: unknown field {quote(key)}")
        if key in KEYS and inner is not None:
            _check_keys(inner, key, depth + 1)
        elif key == "constraints":
            for each in inner or ():
                _check_keys(each, "olm.constraint", depth + 1)


def _converted(value: Mapping[str, Any]) -> Predicate:
    """The predicate of the first key that is there, in upstream's precedence."""
    if value.get("gvk") is not None:
        return _gvk(value["gvk"])
    if value.get("package") is not None:
        return _package(value["package"])
    for key, word, together in (("all", " and ", all), ("any", " or ", any)):
        if value.get(key) is not None:
            return _compound(value[key], word, together)
    if value.get("not") is not None:
        some = _compound(value["not"], " and not ", any)
        return Predicate(some.text, lambda entry: not some.holds(entry))
    if value.get("cel") is not None:
        return _cel(value)
    raise ResolutionError("convert olm.constraint to resolver predicate: constraint is empty")


def _compound(value: Mapping[str, Any], word: str, together: Callable[..., bool]) -> Predicate:
    parts = [_converted(each) for each in value.get("constraints") or ()]
    text = word.join(part.text for part in parts)
    return Predicate(text, lambda entry: together(part.holds(entry) for part in parts))


def _cel(value: Mapping[str, Any]) -> Predicate:
    rule, message = str(value["cel"].get("rule") or ""), str(value.get("failureMessage") or "")
    holds = compile_rule(rule)
    text = f"with constraint: {quote(rule)} and message: {quote(message)}"
    return Predicate(text, lambda entry: holds(entry.properties))


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise ResolutionError("a requirement of a bundle is not a JSON object")


READERS: Mapping[str, Callable[[Any], Predicate]] = {
    "olm.gvk.required": _gvk,
    "olm.package.required": _package,
    "olm.label.required": _label,
    "olm.constraint": _constraint,
}
