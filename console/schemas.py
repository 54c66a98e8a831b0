"""The schemas of definitions, a level at a time: what a catalog brings may have any size. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.objects import KubeObject, name_of

Schema = Mapping[str, Any]

MAX_FIELDS = 300
"""Of a level; the largest known have a hundred."""
MAX_TEXT = 2000
"""Characters of a description, of which API servers keep any number."""
MAX_VALUE = 200
MAX_VALUES = 30
MAX_WRAPPERS = 8
"""Lists of lists and maps of maps, which have no names of their own."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field; `opens` where it has fields of its own, `allowed` and `default` as JSON."""

    name: str
    type: str
    description: str
    required: bool
    default: str
    allowed: Sequence[str]
    opens: bool


@dataclass(frozen=True, slots=True)
class Level:
    """The fields at a place, and what is said of the place itself; `left_out` are too many."""

    type: str
    description: str
    fields: Sequence[Field]
    left_out: int


@dataclass(frozen=True, slots=True)
class Definition:
    """What a CustomResourceDefinition says of its kind; `versions` are those that are served."""

    name: str
    kind: str
    group: str
    scope: str
    versions: Sequence[str]
    schemas: Mapping[str, Schema]


def definition_of(crd: KubeObject) -> Definition:
    """Of one in the shapes of the API."""
    spec = crd.get("spec") or {}
    versions = [each for each in spec.get("versions") or () if each.get("served")]
    return Definition(
        name=name_of(crd),
        kind=(spec.get("names") or {}).get("kind") or name_of(crd),
        group=spec.get("group") or "",
        scope=spec.get("scope") or "",
        versions=[each.get("name") or "" for each in versions],
        schemas={
            each.get("name") or "": (each.get("schema") or {}).get("openAPIV3Schema") or {}
            for each in versions
        },
    )


def level(schema: Schema, path: Sequence[str]) -> Level | None:
    """What is at the end of a path of names of fields; None where that is nothing."""
    here = schema
    for name in path:
        below = _properties(here).get(name)
        if not isinstance(below, Mapping):
            return None
        here = below
    required = _inner(here).get("required") or ()
    found = _properties(here)
    names = sorted(found, key=lambda name: (name not in required, name))
    return Level(
        type=_type(here),
        description=_cut(str(here.get("description") or ""), MAX_TEXT),
        fields=[_field(name, found[name], name in required) for name in names[:MAX_FIELDS]],
        left_out=max(0, len(names) - MAX_FIELDS),
    )


def _field(name: str, value: Any, required: bool) -> Field:
    schema = value if isinstance(value, Mapping) else {}
    inner = _inner(schema)
    return Field(
        name=_cut(name, MAX_VALUE),
        type=_type(schema),
        description=_cut(str(schema.get("description") or ""), MAX_TEXT),
        required=required,
        default=_text(schema["default"]) if "default" in schema else "",
        allowed=[_text(each) for each in (inner.get("enum") or ())[:MAX_VALUES]],
        opens=bool(_properties(schema)),
    )


def _properties(schema: Schema) -> Mapping[str, Any]:
    found = _inner(schema).get("properties")
    return found if isinstance(found, Mapping) else {}


def _inner(schema: Schema) -> Schema:
    """What lists and maps have: their items have no names."""
    return [schema, *(inner for _, inner in _wrapped(schema))][-1]


def _wrapped(schema: Schema) -> Iterator[tuple[str, Schema]]:
    for _ in range(MAX_WRAPPERS):
        for key, word in (("items", "list of"), ("additionalProperties", "map of")):
            below = schema.get(key)
            if isinstance(below, Mapping):
                yield word, below
                schema = below
                break
        else:
            return


def _type(schema: Schema) -> str:
    """In words, such as `list of string`."""
    wrappers = [word for word, _ in _wrapped(schema)]
    inner = _inner(schema)
    if inner.get("x-kubernetes-int-or-string"):
        plain = "integer or string"
    else:
        plain = str(inner.get("type") or "any")
        if inner.get("format"):
            plain += f" ({inner['format']})"
    return _cut(" ".join([*wrappers, plain]), MAX_VALUE)


def _text(value: Any) -> str:
    return _cut(value if isinstance(value, str) else orjson.dumps(value).decode(), MAX_VALUE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
