"""Two schemas walked together: which nodes of the old one are different in the new one.

A schema is flattened in thought: `^` is the root, `^.spec.name` a property, `^.spec.list.items`
the elements of a list, `^.spec.map.additionalProperties` the values of a map, `^.allOf[0]` a part
of a combination. Only nodes of the old schema are visited, as new fields harm no stored object.
Subtrees that are written alike are not entered, so the cost is that of the differences.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from olm_content.formats.canonical_json import CanonicalError, canonical

Schema = dict[str, Any]
"""A JSONSchemaProps as plain JSON."""

ROOT = "^"

SCHEMA_KEYWORDS = frozenset({"items", "additionalProperties", "additionalItems", "not"})
LIST_KEYWORDS = frozenset({"items", "allOf", "anyOf", "oneOf"})
MAP_KEYWORDS = frozenset({"properties", "patternProperties", "definitions", "dependencies"})
NESTED_KEYWORDS = SCHEMA_KEYWORDS | LIST_KEYWORDS | MAP_KEYWORDS

COMPARED_AS_NODES = frozenset({"properties", "items"})
"""What is under these is judged at its own path only; other nested keywords at the parent too."""

KEEP_EMPTY = frozenset(
    {
        "$ref",
        "additionalItems",
        "additionalProperties",
        "default",
        "example",
        "externalDocs",
        "not",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
    }
)
"""Optional in the API's types: given but empty is not the same as not given."""


class Node(NamedTuple):
    """A node of the old schema that differs, or that the new one has not (`new` is None)."""

    path: str
    old: Schema
    new: Schema | None


def differing(old: Schema, new: Schema) -> Iterator[Node]:
    """Every node of `old` that is not the same in `new`, in no particular order.

    Nothing below a removed node is visited.
    """
    pending: list[Node] = [Node(ROOT, old, new)]
    while pending:
        node = pending.pop()
        if node.new is None:
            yield node
            continue
        if written_alike(node.old, node.new):
            continue
        yield node
        counterparts = dict(_children(node.new))
        pending += [
            Node(node.path + step, child, counterparts.get(step))
            for step, child in _children(node.old)
        ]


def flattened(node: Node) -> Iterator[Node]:
    """A removed node and everything below it, as removed nodes."""
    pending = [(node.path, node.old)]
    while pending:
        path, schema = pending.pop()
        yield Node(path, schema, None)
        pending += [(path + step, child) for step, child in _children(schema)]


def _children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The nodes directly below, with the step that leads to each."""
    for keyword in NESTED_KEYWORDS & schema.keys():
        nested = schema[keyword]
        if isinstance(nested, list):
            for index, child in enumerate(nested):
                yield f".{keyword}[{index}]", child
        elif keyword in SCHEMA_KEYWORDS:
            if isinstance(nested, dict):
                yield f".{keyword}", nested
        elif isinstance(nested, dict):
            yield from _named(keyword, nested)


def _named(keyword: str, nested: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    for name, child in nested.items():
        if isinstance(child, dict):
            yield (f".{name}" if keyword == "properties" else f".{keyword}[{name}]"), child


def setting(schema: Schema, keyword: str) -> Any:
    """The value of a keyword; None where it is not given or means nothing."""
    value = schema.get(keyword)
    if keyword not in KEEP_EMPTY and (value is False or value in ("", [], {})):
        return None
    return value


def written_alike(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same text; telling 1 from true, unlike Python."""
    try:
        return orjson.dumps(one) == orjson.dumps(other)
    except (TypeError, orjson.JSONEncodeError):  # integers beyond 64 bits
        return repr(one) == repr(other)


def text_of(value: Any) -> str:
    """A JSON value as compact text; equal for equal values, however they are written."""
    try:
        return canonical({"": value})[4:-1].decode()
    except CanonicalError:
        return repr(value)


def same(keyword: str, one: Any, other: Any) -> bool:
    """Whether a keyword means the same with both values."""
    if one is None or other is None:
        return one is other
    if type(one) is type(other) and type(one) in (str, int):
        return bool(one == other)
    if written_alike(one, other):
        return True
    if keyword in NESTED_KEYWORDS:
        return text_of(meaning(keyword, one)) == text_of(meaning(keyword, other))
    return text_of(one) == text_of(other)


def meaning(keyword: str, value: Any) -> Any:
    """A nested keyword's value without what means nothing, at any depth."""
    if isinstance(value, list) and keyword in LIST_KEYWORDS:
        return [_schema_meaning(item) for item in value]
    if isinstance(value, dict) and keyword in SCHEMA_KEYWORDS:
        return _schema_meaning(value)
    if isinstance(value, dict) and keyword in MAP_KEYWORDS:
        return {name: _schema_meaning(item) for name, item in value.items()}
    return value


def _schema_meaning(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    settings = ((keyword, setting(schema, keyword)) for keyword in schema)
    return {keyword: meaning(keyword, value) for keyword, value in settings if value is not None}
