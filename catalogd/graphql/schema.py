"""The GraphQL schema of a catalog, and answers to queries.

Objects are read when they are asked for, by the catalog's index. One field of the query a schema,
with upstream's arguments `limit` and `offset`; `package` and `name` are ours and save reading what
is not asked for. `summary` says which schemas there are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import orjson
from graphql import (
    DocumentNode,
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLError,
    GraphQLField,
    GraphQLFloat,
    GraphQLInt,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    execute_sync,
    parse,
    validate,
)

from catalogd.graphql.limits import TooComplexError, check_complexity
from catalogd.graphql.names import root_name, type_name
from catalogd.graphql.shape import CatalogShape, Field, Fields, Kind

MAX_OBJECTS = 100
"""Of one field of the query; upstream's default and maximum."""

_SCALARS: Mapping[Kind, GraphQLScalarType] = {
    Kind.BOOLEAN: GraphQLBoolean,
    Kind.INT: GraphQLInt,
    Kind.FLOAT: GraphQLFloat,
}

Json = Mapping[str, Any]


class Objects(Protocol):
    """The objects of a catalog."""

    def __call__(
        self, schema: str, package: str, name: str, *, offset: int, limit: int
    ) -> Iterable[bytes]:
        """Objects as JSON, in the catalog's order; an empty package or name is any.

        Raises OSError; ValueError for an object that is too large.
        """


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query is answered from.

    `check` is called often and raises GraphQLError when the time is over.
    """

    objects: Objects
    check: Callable[[], None]


class CatalogSchema:
    """The types of one version of a catalog."""

    def __init__(self, shape: CatalogShape) -> None:
        types = _Types()
        roots = {"summary": GraphQLField(_SUMMARY, resolve=partial(_summary, shape))}
        for name in sorted(shape.schemas):
            of_schema = types.of(type_name(name), shape.schemas[name].fields)
            if of_schema is not None:
                roots.setdefault(root_name(name), _root(name, of_schema))
        self._schema = GraphQLSchema(GraphQLObjectType("Query", roots))

    def answer(
        self, query: str, reading: Reading, *, variables: Json | None = None, operation: str = ""
    ) -> dict[str, Any]:
        """The answer, with `data` and, if something is wrong with the query, `errors`."""
        try:
            document = parse(query)
            check_complexity(document)
        except GraphQLError as error:
            return _refused([error])
        except TooComplexError as error:
            return _refused([GraphQLError(str(error))])
        except RecursionError:
            return _refused([GraphQLError("query is nested too deeply")])
        faults = validate(self._schema, document)
        return (
            _refused(faults) if faults else self._execute(document, reading, variables, operation)
        )

    def _execute(
        self, document: DocumentNode, reading: Reading, variables: Json | None, operation: str
    ) -> dict[str, Any]:
        result = execute_sync(
            self._schema,
            document,
            context_value=reading,
            variable_values=dict(variables or {}),
            operation_name=operation or None,
        )
        return dict(result.formatted)


def _refused(errors: Sequence[GraphQLError]) -> dict[str, Any]:
    return {"data": None, "errors": [error.formatted for error in errors]}


class _Types:
    """Makes object types; names are unique in a schema."""

    def __init__(self) -> None:
        self._names = {"Query", "CatalogSummary", "SchemaSummary"}

    def of(self, wanted: str, fields: Fields) -> GraphQLObjectType | None:
        """The type of objects with these fields; None without any, which GraphQL has not."""
        name, number = wanted, 2
        while name in self._names:
            name, number = f"{wanted}{number}", number + 1
        self._names.add(name)
        made = {key: self._field(name, key, found) for key, found in fields.items()}
        return GraphQLObjectType(name, made) if made else None

    def _field(self, parent: str, name: str, found: Field) -> GraphQLField:
        inner: GraphQLOutputType | None = None
        if found.kind is Kind.OBJECT:
            inner = self.of(parent + type_name(name), found.fields)
        if inner is None:
            inner = _SCALARS.get(found.kind, GraphQLString)
        convert = _as_text if inner is GraphQLString else _as_it_is
        resolve = partial(_resolve, tuple(found.keys), convert, listed=bool(found.listed))
        return GraphQLField(GraphQLList(inner) if found.listed else inner, resolve=resolve)


def _resolve(
    keys: Sequence[str],
    convert: Callable[[Any], Any],
    source: Json,
    info: GraphQLResolveInfo[Reading],
    *,
    listed: bool,
) -> Any:
    info.context.check()
    value = next((source[key] for key in keys if source.get(key) is not None), None)
    if listed and value is not None:
        return [convert(item) for item in value]
    return convert(value)


def _as_it_is(value: Any) -> Any:
    return value


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def _root(schema: str, of_schema: GraphQLObjectType) -> GraphQLField:
    return GraphQLField(
        GraphQLList(of_schema),
        args={
            "limit": GraphQLArgument(
                GraphQLInt, MAX_OBJECTS, description=f"How many at most; up to {MAX_OBJECTS}."
            ),
            "offset": GraphQLArgument(GraphQLInt, 0, description="How many to skip."),
            "package": GraphQLArgument(GraphQLString, description="Only of this package."),
            "name": GraphQLArgument(GraphQLString, description="Only of this name."),
        },
        resolve=partial(_read, schema),
    )


def _read(schema: str, _: Any, info: GraphQLResolveInfo[Reading], **arguments: Any) -> list[Json]:
    reading = info.context
    limit, offset = arguments.get("limit") or 0, arguments.get("offset") or 0
    found = reading.objects(
        schema,
        arguments.get("package") or "",
        arguments.get("name") or "",
        offset=max(0, offset),
        limit=limit if 0 < limit <= MAX_OBJECTS else MAX_OBJECTS,
    )
    objects = []
    for raw in found:
        reading.check()
        objects.append(orjson.loads(raw))
    return objects


_SUMMARY = GraphQLObjectType(
    "CatalogSummary",
    {
        "totalSchemas": GraphQLField(GraphQLInt),
        "schemas": GraphQLField(
            GraphQLList(
                GraphQLObjectType(
                    "SchemaSummary",
                    {
                        "name": GraphQLField(GraphQLString),
                        "totalObjects": GraphQLField(GraphQLInt),
                        "totalFields": GraphQLField(GraphQLInt),
                    },
                )
            )
        ),
    },
)


def _summary(shape: CatalogShape, *_: Any) -> Json:
    return {
        "totalSchemas": len(shape.schemas),
        "schemas": [
            {"name": name, "totalObjects": found.objects, "totalFields": len(found.fields)}
            for name, found in sorted(shape.schemas.items())
        ],
    }
