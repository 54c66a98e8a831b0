"""The words in which models say what the API server shall check: markers for `Annotated`.

One model states a field once: its Python type, what it means, and its limits. Two readers use
that statement: `api.wire` turns raw JSON into models (types and presence only; limits were
checked by the API server), `api.crd` turns models into the schema that makes it check them.

Rules are CEL (x-kubernetes-validations). Patterns are RE2 and are written into CEL raw strings,
so that what stands in the code is the pattern itself, without escapes on top.
"""

import types
from collections.abc import Mapping
from enum import Enum, auto
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields


class Doc(Struct, frozen=True):
    """The text of `kubectl explain`; blank lines end paragraphs, their lines are joined."""

    text: str


class Keywords(Struct, frozen=True, eq=False):  # types hold markers, and types must hash
    """Schema keywords as the API server spells them, for example `{"maxLength": 63}`."""

    values: Mapping[str, Any]


class Rule(Struct, frozen=True):
    """A CEL rule over `self` (and `oldSelf` on updates), and what is said when it is broken."""

    expression: str
    message: str


class Presence(Enum):
    """Where presence in the schema differs from the Python default."""

    REQUIRED = auto()
    """Listed as required though the model has a default, which makes constructing it shorter."""
    NOT_REQUIRED = auto()
    """Not listed as required though the model needs it: a rule with a better message asks for it,
    or the published API does not."""
    DEFAULTED = auto()
    """The API server fills in the model's default."""


class Key(Struct, frozen=True):
    """The name in JSON where it is not the camelCase of the field's name: `startingCSV`."""

    name: str


class Embedded(Struct, frozen=True):
    """The value is a struct of Kubernetes, by Go's name: a reference to its schema."""

    struct: str


Marker = Doc | Keywords | Rule | Presence | Key | Embedded


def max_length(limit: int) -> Keywords:
    """At most `limit` characters (Unicode code points)."""
    return Keywords({"maxLength": limit})


def min_length(limit: int) -> Keywords:
    """At least `limit` characters."""
    return Keywords({"minLength": limit})


def pattern(regex: str) -> Keywords:
    """An RE2 pattern checked by the schema itself; prefer `matches`, whose message is ours."""
    return Keywords({"pattern": regex})


def max_items(limit: int) -> Keywords:
    """At most `limit` entries."""
    return Keywords({"maxItems": limit})


def min_items(limit: int) -> Keywords:
    """At least `limit` entries."""
    return Keywords({"minItems": limit})


def min_properties(limit: int) -> Keywords:
    """At least `limit` keys."""
    return Keywords({"minProperties": limit})


def between(minimum: int, maximum: int | None = None) -> Keywords:
    """A number from `minimum` to `maximum`, both allowed; no upper end when it is not given."""
    upper = {} if maximum is None else {"maximum": maximum}
    return Keywords({"minimum": minimum, **upper})


def list_map(*keys: str) -> Keywords:
    """A list whose entries are identified by `keys`, so that several writers can merge into it."""
    return Keywords({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


NULLABLE = Keywords({"nullable": True})
SET = Keywords({"x-kubernetes-list-type": "set"})
ATOMIC_LIST = Keywords({"x-kubernetes-list-type": "atomic"})
ATOMIC_MAP = Keywords({"x-kubernetes-map-type": "atomic"})
ANY_FIELDS = Keywords({"x-kubernetes-preserve-unknown-fields": True})
EMBEDDED_OBJECT = Keywords({"x-kubernetes-embedded-resource": True})
INT32 = Keywords({"format": "int32"})
INT64 = Keywords({"format": "int64"})


def immutable(message: str) -> Rule:
    """The value may be set, and removed where it is optional, but not changed."""
    return Rule("self == oldSelf", message)


def matches(regex: str, message: str) -> Rule:
    """The string has a match of an RE2 pattern (anchor it: a match anywhere is enough)."""
    return Rule(f"self.matches({literal(regex)})", message)


def union_member(member: str, *, of: str, when: str, called: str = "") -> Rule:
    """`member` is set if and only if the discriminator `of` is `when`.

    `called` names the discriminator in the message where that differs from the field.
    """
    return Rule(
        f"self.{of} == '{when}' ? has(self.{member}) : !has(self.{member})",
        f"{member} is required when {called or of} is {when}, and forbidden otherwise",
    )


def literal(regex: str) -> str:
    """An RE2 pattern as a CEL raw string."""
    quote = '"' if "'" in regex else "'"
    if quote in regex:
        raise ValueError(f"pattern with both kinds of quotes: {regex}")
    return f"r{quote}{regex}{quote}"


class ModelField(Struct, frozen=True, kw_only=True):
    """One field of a model, as both readers see it."""

    name: str
    key: str
    """The name in JSON: camelCase of `name`, or what its `Key` says."""
    kind: Any
    """The type without `Annotated` and without `None`."""
    markers: tuple[Marker, ...]
    required: bool
    """Whether the schema lists it as required."""
    needed: bool
    """Whether the model cannot be made without it."""
    default: Any
    """The model's default; NODEFAULT for a needed field."""


@cache
def fields_of(model: type) -> tuple[ModelField, ...]:
    """The fields of a model in the order in which it states them."""
    return tuple(
        _model_field(field.name, field.type, field.default, field.default_factory)
        for field in fields(model)
    )


def _model_field(name: str, annotation: Any, default: Any, factory: Any) -> ModelField:
    kind, markers = unwrap(annotation)
    default = default if factory is NODEFAULT else factory()
    needed = default is NODEFAULT
    required = Presence.REQUIRED in markers or (needed and Presence.NOT_REQUIRED not in markers)
    return ModelField(
        name=name,
        key=next((each.name for each in markers if isinstance(each, Key)), camel_case(name)),
        kind=kind,
        markers=markers,
        required=required,
        needed=needed,
        default=default,
    )


def unwrap(annotation: Any) -> tuple[Any, tuple[Marker, ...]]:
    """The bare type behind `Annotated` and `| None`, and all markers, outermost first.

    Of several types, which is `int | str` alone, the union is the bare type.
    """
    origin = get_origin(annotation)
    if origin is Annotated:
        kind, markers = unwrap(annotation.__origin__)
        return kind, (*annotation.__metadata__, *markers)
    if origin in (Union, types.UnionType):
        members = [arg for arg in get_args(annotation) if arg is not types.NoneType]
        return unwrap(members[0]) if len(members) == 1 else (reduce(or_, members), ())
    return annotation, ()


def camel_case(name: str) -> str:
    """`package_name` -> `packageName`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)
