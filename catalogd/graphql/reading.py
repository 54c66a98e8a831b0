"""Reads of a stored object the fields that a query asks for, and passes over the rest. Pure.

Most of an object is not asked for, and making values of it takes most of a query's time.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
import orjson
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    GraphQLResolveInfo,
    InlineFragmentNode,
    get_named_type,
)

from catalogd.graphql.projection import STORED, StoredField

MAX_READERS = 64
"""Of sets of fields that are remembered."""

Read = Callable[[bytes], Mapping[str, Any]]


def reader(info: GraphQLResolveInfo[Any]) -> Read:
    """What reads the objects that a resolver gives: of each what the query may ask of it."""
    of_type = get_named_type(info.return_type)
    if not isinstance(of_type, GraphQLObjectType):
        return orjson.loads
    fields = (of_type.fields.get(name) for name in _asked(info))
    stored = (field.extensions.get(STORED) for field in fields if field is not None)
    keys = {key for each in stored if isinstance(each, StoredField) for key in each.keys}
    return reader_of(frozenset(keys))


def _asked(info: GraphQLResolveInfo[Any]) -> set[str]:
    """The names of the fields that are asked for, also by fragments and whatever directives say."""
    names: set[str] = set()
    pending = [node.selection_set for node in info.field_nodes]
    while pending:
        selected = pending.pop()
        for node in selected.selections if selected is not None else ():
            match node:
                case FieldNode():
                    names.add(node.name.value)
                case InlineFragmentNode():
                    pending.append(node.selection_set)
                case FragmentSpreadNode():
                    pending.append(info.fragments[node.name.value].selection_set)
    return names


@lru_cache(MAX_READERS)
def reader_of(keys: Iterable[str]) -> Read:
    """What reads these keys of objects in JSON; all keys where one is of unusual characters."""
    names = {f"key_{number}": key for number, key in enumerate(sorted(keys))}
    fields = [(name, msgspec.Raw, None) for name in names]
    try:
        decoder = msgspec.json.Decoder(msgspec.defstruct("Stored", fields, rename=names))
    except ValueError:  # the library takes no quotes, backslashes and line breaks in keys
        return orjson.loads

    def read(raw: bytes) -> Mapping[str, Any]:
        try:
            found = decoder.decode(raw)
        except (msgspec.DecodeError, RecursionError):  # the other library takes deeper objects
            return orjson.loads(raw)  # type: ignore[no-any-return]
        values = ((key, getattr(found, name)) for name, key in names.items())
        return {key: orjson.loads(bytes(value)) for key, value in values if value is not None}

    return read
