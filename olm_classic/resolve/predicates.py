"""Tests of one entry: what a simple requirement asks of the bundle that is to meet it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from olm_classic.resolve.cel_rules import compile_rule
from olm_classic.resolve.entries import Entry
from olm_classic.resolve.errors import ResolutionError
from olm_classic.resolve.readers import api_key, label_key, package_key
from olm_content.formats.go_text import quote
from olm_content.ranges.errors import RangeError
from olm_content.ranges.skip import parse_skip_range


@dataclass(frozen=True, slots=True)
class Predicate:
    """`text` is how messages show it; `holds` says whether an entry meets it.

    `id` tells it from others. An entry that meets it has one of `keys`; None for any entry.
    """

    id: str
    text: str
    holds: Callable[[Entry], bool]
    keys: frozenset[str] | None = None


def gvk(value: Any) -> Predicate:
    """The bundle provides an API. Raises ResolutionError."""
    given = as_object(value)
    group, version, kind = (str(given.get(key) or "") for key in ("group", "version", "kind"))
    api = (group, version, kind)
    text = f"providing an API with group: {group}, version: {version}, kind: {kind}"
    keys = frozenset({api_key(api)})
    return Predicate(_id("gvk", api), text, lambda entry: api in entry.apis, keys)


def package(value: Any) -> Predicate:
    """The bundle is of a package, and its version in a range. Raises ResolutionError."""
    given = as_object(value)
    return package_in_range(
        str(given.get("packageName") or ""), str(given.get("versionRange") or "")
    )


def package_in_range(name: str, text: str) -> Predicate:
    """The same of values. Raises ResolutionError for a range that cannot be read."""
    try:
        accepted = parse_skip_range(text)
    except RangeError as error:
        raise ResolutionError(error.message) from error

    def holds(entry: Entry) -> bool:
        return (
            entry.of_package(name) and entry.version is not None and accepted.matches(entry.version)
        )

    shown = f"with package: {name} and with version in range: {text}"
    return Predicate(_id("package", (name, text)), shown, holds, frozenset({package_key(name)}))


def label(value: Any) -> Predicate:
    """The bundle has a label. Raises ResolutionError."""
    wanted = str(as_object(value).get("label") or "")

    def holds(entry: Entry) -> bool:
        values = (p.get("value") for p in entry.properties if p.get("type") == "olm.label")
        return any(isinstance(v, Mapping) and str(v.get("label") or "") == wanted for v in values)

    keys = frozenset({label_key(wanted)})
    return Predicate(_id("label", wanted), f"with label: {wanted}", holds, keys)


def cel(value: Any, message: str) -> Predicate:
    """A rule holds of the bundle's properties. Raises ResolutionError for one that is none."""
    rule = str(as_object(value).get("rule") or "")
    holds = compile_rule(rule)
    text = f"with constraint: {quote(rule)} and message: {quote(message)}"
    return Predicate(_id("cel", (rule, message)), text, lambda entry: holds(entry.properties))


def every(parts: Iterable[Predicate]) -> Predicate:
    """The bundle meets all of them."""
    found = tuple(parts)
    keys = next((part.keys for part in found if part.keys is not None), None)
    return Predicate(
        _id("all", _digest(found)),
        " and ".join(part.text for part in found),
        lambda entry: all(part.holds(entry) for part in found),
        keys,
    )


def some(parts: Iterable[Predicate], word: str = " or ") -> Predicate:
    """The bundle meets one of them."""
    found = tuple(parts)
    known = [part.keys for part in found if part.keys is not None]
    return Predicate(
        _id("any", _digest(found)),
        word.join(part.text for part in found),
        lambda entry: any(part.holds(entry) for part in found),
        frozenset[str]().union(*known) if len(known) == len(found) else None,
    )


def none(parts: Iterable[Predicate]) -> Predicate:
    """The bundle meets none of them. Upstream's text has no `not` before the first."""
    met = some(parts, " and not ")
    return Predicate(_id("not", met.id), met.text, lambda entry: not met.holds(entry))


def as_object(value: Any) -> Mapping[str, Any]:
    """Raises ResolutionError for what is no JSON object."""
    if isinstance(value, Mapping):
        return value
    raise ResolutionError("a requirement of a bundle is not a JSON object")


def _digest(parts: Iterable[Predicate]) -> str:
    """Names the parts; ids within ids would double with each level, for all their quotes."""
    ids = json.dumps([part.id for part in parts])
    return hashlib.sha256(ids.encode()).hexdigest()


def _id(kind: str, value: Any) -> str:
    return json.dumps([kind, value], sort_keys=True)
