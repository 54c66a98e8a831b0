"""Reads the fields of stored objects at once, not each by a resolver. Pure.

The library collects what a query asks of a type (fragments, directives, aliases), which is the same
for all objects of a list. An object that does not fit is left to the library, which says what is
wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import (
    GraphQLBoolean,
    GraphQLError,
    GraphQLField,
    GraphQLLeafType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLString,
    get_named_type,
)
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import Path
from msgspec import DecodeError

from catalogd.graphql.direct import Form, Leaf, decoder_of

STORED = "stored"
"""The key of a field's extensions that hold its `StoredField`."""

Json = Mapping[str, Any]
Project = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class StoredField:
    """Where the value of a field is: the first of the keys that is not null."""

    keys: tuple[str, ...]
    listed: bool

    def read(self, source: Json) -> Any:
        """The value of an object's field, None without one."""
        if len(self.keys) == 1:
            return source.get(self.keys[0])
        return next((source[key] for key in self.keys if source.get(key) is not None), None)


@dataclass(frozen=True, slots=True)
class StoredObjects:
    """Objects as JSON, one after the other, and what makes a `Json` of one."""

    raw: Iterable[bytes]
    read: Callable[[bytes], Json]

    def __iter__(self) -> Iterator[Json]:
        """Each made as it is asked for."""
        return map(self.read, self.raw)


def as_text(value: Any) -> str | None:
    """Text as it is, whatever else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


class ProjectingExecutor(Executor[Any]):
    """The library's, but for objects of types whose fields all have a `StoredField`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._projections: dict[int, Project | None] = {}

    def complete_list_value(
        self,
        return_type: GraphQLList[Any],
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """As the library says; of stored objects each is read at once where its fields allow it."""
        if not isinstance(result, StoredObjects):
            return super().complete_list_value(
                return_type, field_details_list, info, path, result, position_context
            )
        form = self._form(return_type.of_type, field_details_list)
        direct = decoder_of(form) if form else None
        done: list[Any] = []
        for index, raw in enumerate(result.raw):
            if direct is not None:
                try:
                    done.append(direct(raw))
                    continue
                except (DecodeError, RecursionError):
                    direct = None  # as the others of its kind, mostly
            place = path.add_key(index, None)
            self.complete_list_item_value(
                result.read(raw),
                done,
                return_type.of_type,
                field_details_list,
                info,
                place,
                position_context,
            )
        return done

    def _form(self, of_type: GraphQLObjectType, details: FieldDetailsList) -> Form | None:
        """The form of answers of a type, if they can be read straight into it."""
        asked, _, forbidden = self.collect_subfields(of_type, details)
        form = []
        for key, inner in asked.items():
            field = of_type.fields.get(inner[0].node.name.value)
            stored = None if field is None else field.extensions.get(STORED)
            if field is None or not isinstance(stored, StoredField) or stored.keys != (key,):
                return None
            content = self._content(get_named_type(field.type), inner)
            if content is None:
                return None
            form.append((key, stored.listed, content))
        return None if forbidden else tuple(form)

    def _content(self, of_type: GraphQLNamedType, details: FieldDetailsList) -> Leaf | Form | None:
        if isinstance(of_type, GraphQLObjectType):
            return self._form(of_type, details)
        return str if of_type is GraphQLString else bool if of_type is GraphQLBoolean else None

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: Any,
    ) -> Any:
        """As the library says."""
        project = self._projection(return_type, field_details_list)
        if project is not None:
            info.context.check()
            try:
                return project(result)
            except (GraphQLError, TypeError, ValueError):
                pass  # the library finds it again, and names the place
        return super().complete_object_value(
            return_type, field_details_list, info, path, result, position_context
        )

    def _projection(self, of_type: GraphQLObjectType, details: FieldDetailsList) -> Project | None:
        """What reads the fields that are asked for; remembered while the query is executed."""
        key = id(details)  # the library keeps the list, see its collect_subfields
        if key not in self._projections:
            self._projections[key] = self._read_all(of_type, details)
        return self._projections[key]

    def _read_all(self, of_type: GraphQLObjectType, details: FieldDetailsList) -> Project | None:
        asked, _, forbidden = self.collect_subfields(of_type, details)
        readers: dict[str, Project] = {}
        for key, inner in asked.items():
            name = inner[0].node.name.value
            field = of_type.fields.get(name)
            reader = None if field is None else self._read_one(field, inner)
            if name == "__typename":
                reader = _constant(of_type.name)
            if reader is None or forbidden:
                return None
            readers[key] = reader
        pairs = tuple(readers.items())
        return lambda source: {key: reader(source) for key, reader in pairs}

    def _read_one(self, field: GraphQLField, details: FieldDetailsList) -> Project | None:
        stored = field.extensions.get(STORED)
        item = self._item(get_named_type(field.type), details)
        if not isinstance(stored, StoredField) or item is None:
            return None
        return _read_list(stored, item) if stored.listed else _read_value(stored, item)

    def _item(self, of_type: GraphQLNamedType, details: FieldDetailsList) -> Project | None:
        if isinstance(of_type, GraphQLObjectType):
            return self._projection(of_type, details)
        if of_type is GraphQLString:
            return as_text
        leaf = of_type if isinstance(of_type, GraphQLLeafType) else None
        return leaf.coerce_output_value if leaf is not None else None


def _read_value(field: StoredField, item: Project) -> Project:
    read, is_text = field.read, item is as_text

    def read_value(source: Json) -> Any:
        value = read(source)
        return value if value is None or (is_text and type(value) is str) else item(value)

    return read_value


def _read_list(field: StoredField, item: Project) -> Project:
    read = field.read

    def read_list(source: Json) -> list[Any] | None:
        values = read(source)
        if values is None:
            return None
        return [None if value is None else item(value) for value in values]

    return read_list


def _constant(value: str) -> Project:
    return lambda _: value
