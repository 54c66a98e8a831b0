"""What bundles require of others, as a formula over what is installed in the end.

In the documents' dialect a compound constraint is met by the whole solution: `all` and `any` may
be met by several bundles, and `not` keeps a bundle out of the solution (documents, 16.5). In
upstream's each is a test of the one bundle that is to meet it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from olm_classic.dialect import Dialect
from olm_classic.resolve import predicates
from olm_classic.resolve.entries import Property
from olm_classic.resolve.errors import ResolutionError
from olm_classic.resolve.predicates import Predicate, as_object
from olm_content.formats.go_text import quote

MAX_BYTES: Mapping[Dialect, int] = {Dialect.DOCUMENTS: 64 << 10, Dialect.UPSTREAM: 2 << 16}
"""Of the JSON of an `olm.constraint`."""
MAX_DEPTH = 64

PACKAGE_KEYS = frozenset({"packageName", "versionRange"})
KEYS: Mapping[str, frozenset[str]] = {
    "olm.constraint": frozenset({"failureMessage", "cel", "gvk", "package", "all", "any", "not"}),
    "gvk": frozenset({"group", "kind", "version"}),
    "cel": frozenset({"rule"}),
    "all": frozenset({"constraints"}),
    "any": frozenset({"constraints"}),
    "not": frozenset({"constraints"}),
}


@dataclass(frozen=True, slots=True)
class Need:
    """Some bundle of the solution meets it."""

    met: Predicate


@dataclass(frozen=True, slots=True)
class Forbid:
    """No bundle of the solution meets it."""

    met: Predicate


@dataclass(frozen=True, slots=True)
class All:
    """Each of these."""

    parts: tuple["Formula", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of these, the first that can be; `text` is how messages show it."""

    parts: tuple["Formula", ...]
    text: str


Formula = Need | Forbid | All | Either


def requirements(properties: tuple[Property, ...], dialect: Dialect) -> Iterator[Formula]:
    """Each requirement once, in order. Raises ResolutionError for one that cannot be read."""
    seen = set[str]()
    for each in properties:
        kind, value = str(each.get("type")), each.get("value")
        if kind not in KINDS:
            continue
        key = kind + json.dumps(value, sort_keys=True)
        if key not in seen:
            seen.add(key)
            simple = SIMPLE.get(kind)
            yield Need(simple(value)) if simple else _constraint(value, dialect)


SIMPLE: Mapping[str, Callable[[Any], Predicate]] = {
    "olm.gvk.required": predicates.gvk,
    "olm.package.required": predicates.package,
    "olm.label.required": predicates.label,
}
KINDS = frozenset({*SIMPLE, "olm.constraint"})


def _constraint(value: Any, dialect: Dialect) -> Formula:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_BYTES[dialect]:
        raise ResolutionError(
            "parse olm.constraint: olm.constraint value is greater than max constraint size "
            f"{MAX_BYTES[dialect]} bytes"
        )
    documents = dialect is Dialect.DOCUMENTS
    named = PACKAGE_KEYS | {"name", "version"} if documents else PACKAGE_KEYS
    _check_keys(value, "olm.constraint", {**KEYS, "package": named}, 0)
    return _formula(value, wanted=True) if documents else Need(_predicate(value))


def _check_keys(value: Any, shape: str, known: Mapping[str, frozenset[str]], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ResolutionError(f"parse olm.constraint: nested more than {MAX_DEPTH} deep")
    for key, inner in as_object(value).items():
        if key not in known[shape]:
            raise ResolutionError(f"parse olm.constraint: json: unknown field {quote(key)}")
        if key in known and inner is not None:
            _check_keys(inner, key, known, depth + 1)
        elif key == "constraints":
            for each in inner or ():
                _check_keys(each, "olm.constraint", known, depth + 1)


def _kind(value: Mapping[str, Any]) -> str:
    """The first key that is there, in upstream's precedence."""
    for key in ("gvk", "package", "all", "any", "not", "cel"):
        if value.get(key) is not None:
            return key
    raise ResolutionError("convert olm.constraint to resolver predicate: constraint is empty")


def _parts(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(value.get("constraints") or ())


def _predicate(value: Mapping[str, Any]) -> Predicate:
    """Upstream's: one bundle is to meet all of it."""
    kind = _kind(value)
    inner = value[kind]
    match kind:
        case "gvk":
            return predicates.gvk(inner)
        case "package":
            return predicates.package(inner)
        case "all":
            return predicates.every(map(_predicate, _parts(inner)))
        case "any":
            return predicates.some(map(_predicate, _parts(inner)))
        case "not":
            return predicates.none(map(_predicate, _parts(inner)))
        case _:
            return predicates.cel(inner, str(value.get("failureMessage") or ""))


def _formula(value: Mapping[str, Any], *, wanted: bool) -> Formula:
    """The documents': with every negation brought to the bundles that it keeps out."""
    kind = _kind(value)
    inner, message = value[kind], str(value.get("failureMessage") or "")
    if kind == "not":
        # Of several constraints none may be met.
        parts = tuple(_formula(each, wanted=not wanted) for each in _parts(inner))
        return All(parts) if wanted else _any(parts, message)
    if kind in {"all", "any"}:
        parts = tuple(_formula(each, wanted=wanted) for each in _parts(inner))
        return All(parts) if (kind == "all") is wanted else _any(parts, message)
    met = _simple(kind, inner, message)
    return Need(met) if wanted else Forbid(met)


def _any(parts: tuple[Formula, ...], message: str) -> Formula:
    needs = [part.met for part in parts if isinstance(part, Need)]
    if needs and len(needs) == len(parts):
        # Preferences among catalogs and channels go before the order in which they are listed.
        return Need(_with_message(predicates.some(needs), message))
    text = " or ".join(f"({describe(part)})" for part in parts) or "that meets an empty choice"
    return Either(parts, text + _shown(message))


def _simple(kind: str, inner: Any, message: str) -> Predicate:
    if kind == "cel":
        return predicates.cel(inner, message)
    if kind == "gvk":
        return _with_message(predicates.gvk(inner), message)
    given = as_object(inner)
    name = str(given.get("packageName") or given.get("name") or "")
    text = str(given.get("versionRange") or given.get("version") or "")
    return _with_message(predicates.package_in_range(name, text), message)


def _with_message(predicate: Predicate, message: str) -> Predicate:
    shown = predicate.text + _shown(message)
    return Predicate(predicate.id, shown, predicate.holds, predicate.keys)


def _shown(message: str) -> str:
    return f" and message: {quote(message)}" if message else ""


def describe(formula: Formula) -> str:
    """A formula in a message, after the words `requires an operator`."""
    match formula:
        case Need(met):
            return met.text
        case Forbid(met):
            return f"not {met.text}"
        case All(parts):
            return " and ".join(map(describe, parts))
        case Either(_, text):
            return text
