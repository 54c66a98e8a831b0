"""Which fields the objects of a catalog have, as they show them.

A catalog's objects may have any fields, so their types are discovered while the catalog is written
and stored next to it. Arrays of objects get a type of their own; other objects are JSON texts.
A field whose values have several types gets the one that holds all of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from catalogd.graphql.names import field_name

FORMAT = 1
MAX_FIELDS = 5000
"""Of a catalog in all; keys that are found later are left out. Real catalogs have about 60."""
INT_END = 2**31
"""GraphQL's Int has 32 bits with its sign."""


class BadShapeError(ValueError):
    """A stored shape that cannot be read."""


class Kind(StrEnum):
    """What a value is; `NONE` as long as only nulls were seen."""

    NONE = ""
    BOOLEAN = "Boolean"
    INT = "Int"
    FLOAT = "Float"
    STRING = "String"
    """Text, and whatever else as JSON."""
    OBJECT = "Object"
    """Only inside arrays."""


@dataclass(slots=True)
class Field:
    """A field: the JSON keys that are called so, its kind, whether it is an array of it.

    `fields` are those of an array's objects.
    """

    keys: list[str] = field(default_factory=list)
    kind: Kind = Kind.NONE
    listed: bool | None = None
    fields: "Fields" = field(default_factory=dict)


Fields = dict[str, Field]


@dataclass(slots=True)
class SchemaShape:
    """How many objects of a schema there are, and their fields."""

    objects: int = 0
    fields: Fields = field(default_factory=dict)


class CatalogShape:
    """The shapes of all schemas, discovered object by object."""

    def __init__(self) -> None:
        self.schemas: dict[str, SchemaShape] = {}
        self._room = MAX_FIELDS

    def add(self, schema: str, value: Mapping[str, Any]) -> None:
        """Takes in an object of a schema; one without is reachable by no query."""
        if schema:
            shape = self.schemas.setdefault(schema, SchemaShape())
            shape.objects += 1
            self._merge(shape.fields, value, nested=False)

    def _merge(self, fields: Fields, value: Mapping[str, Any], *, nested: bool) -> None:
        for key, item in value.items():
            found = fields.get(field_name(key))
            if found is None:
                if not self._room:
                    continue
                self._room -= 1
                found = fields[field_name(key)] = Field()
            if key not in found.keys:
                found.keys.append(key)
            self._observe(found, item, nested=nested)

    def _observe(self, found: Field, value: Any, *, nested: bool) -> None:
        if value is None:
            return
        listed = isinstance(value, list)
        if found.listed is not None and found.listed != listed:
            found.listed, found.kind = False, Kind.STRING
            return
        found.listed = listed
        for item in value if listed else (value,):
            is_object = isinstance(item, dict) and listed and not nested
            found.kind = _widest(found.kind, Kind.OBJECT if is_object else _kind(item))
            if is_object and found.kind is Kind.OBJECT:
                self._merge(found.fields, item, nested=True)

    def document(self) -> dict[str, Any]:
        """The shapes as plain JSON, to be read by `from_document`."""
        return {
            "format": FORMAT,
            "schemas": {
                name: {"objects": shape.objects, "fields": _fields_document(shape.fields)}
                for name, shape in self.schemas.items()
            },
        }

    @classmethod
    def from_document(cls, document: Any) -> "CatalogShape":
        """Reads what `document` wrote. Raises BadShapeError."""
        shape = cls()
        try:
            if document["format"] != FORMAT:
                raise BadShapeError(f"unknown format {document['format']}")
            for name, found in document["schemas"].items():
                fields = _fields_from(found["fields"])
                shape.schemas[name] = SchemaShape(int(found["objects"]), fields)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadShapeError(f"shape of a catalog cannot be read: {error!r}") from error
        return shape


def _kind(value: Any) -> Kind:
    match value:
        case None:
            return Kind.NONE
        case bool():
            return Kind.BOOLEAN
        case int() | float() if abs(value) < INT_END and value == int(value):
            return Kind.INT
        case int() | float():
            return Kind.FLOAT
        case _:
            return Kind.STRING


def _widest(one: Kind, other: Kind) -> Kind:
    kinds = {one, other} - {Kind.NONE}
    if kinds == {Kind.INT, Kind.FLOAT}:
        return Kind.FLOAT
    return kinds.pop() if len(kinds) == 1 else Kind.STRING if kinds else Kind.NONE


def _fields_document(fields: Fields) -> dict[str, Any]:
    return {
        name: [found.keys, found.kind, bool(found.listed), _fields_document(found.fields)]
        for name, found in fields.items()
    }


def _fields_from(document: Mapping[str, Iterable[Any]]) -> Fields:
    fields: Fields = {}
    for name, (keys, kind, listed, nested) in document.items():
        fields[name] = Field(list(keys), Kind(kind), listed, _fields_from(nested))
    return fields
