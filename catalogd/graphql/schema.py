"""The GraphQL schema of a catalog, and answers to queries.

Objects are read when they are asked for, by the catalog's index. One field of the query a schema,
with upstream's arguments `limit` and `offset`; `package` and `name` are ours and save reading what
is not asked for. `summary` says which schemas there are.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

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
    TokenKind,
    execute_sync,
    parse,
    validate,
)

from catalogd.graphql.limits import TooComplexError, check_complexity
from catalogd.graphql.names import root_name, type_name
from catalogd.graphql.projection import (
    STORED,
    ProjectingExecutor,
    StoredField,
    StoredObjects,
    as_text,
)
from catalogd.graphql.reading import reader
from catalogd.graphql.shape import CatalogShape, Field, Fields, Kind

MAX_FORMS = 32
"""Of valid queries that are remembered for a version."""
MAX_OBJECTS = 100
"""Of one field of the query; upstream's default and maximum."""

_SCALARS: Mapping[Kind, GraphQLScalarType] = {
    Kind.BOOLEAN: GraphQLBoolean,
    Kind.INT: GraphQLInt,
    Kind.FLOAT: GraphQLFloat,
}

Json = Mapping[str, Any]
Form = tuple[tuple[TokenKind, str | int], ...]


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
        self._valid: OrderedDict[Form, None] = OrderedDict()

    def answer(
        self, query: str, reading: Reading, *, variables: Json | None = None, operation: str = ""
    ) -> dict[str, Any]:
        """The answer, with `data` and, if something is wrong with the query, `errors`.

        `direct.encoded` makes JSON of it.
        """
        try:
            document = parse(query)
            check_complexity(document)
        except GraphQLError as error:
            return _refused([error])
        except TooComplexError as error:
            return _refused([GraphQLError(str(error))])
        except RecursionError:
            return _refused([GraphQLError("query is nested too deeply")])
        faults = self._faults(document)
        return (
            _refused(faults) if faults else self._execute(document, reading, variables, operation)
        )

    def _faults(self, document: DocumentNode) -> Sequence[GraphQLError]:
        """What is wrong with a query by the types. Most queries are like one before."""
        form = _form(document)
        if form in self._valid:
            self._valid.move_to_end(form)
            return ()
        faults = validate(self._schema, document)
        if not faults:
            self._valid[form] = None
            if len(self._valid) > MAX_FORMS:
                self._valid.popitem(last=False)
        return faults

    def _execute(
        self, document: DocumentNode, reading: Reading, variables: Json | None, operation: str
    ) -> dict[str, Any]:
        result = execute_sync(
            self._schema,
            document,
            context_value=reading,
            variable_values=dict(variables or {}),
            operation_name=operation or None,
            executor_class=ProjectingExecutor,
        )
        return dict(result.formatted)


def _form(document: DocumentNode) -> Form:
    """A query without its texts but which of them are equal: all that validation looks at."""
    texts: dict[str, int] = {}
    form: list[tuple[TokenKind, str | int]] = []
    token = document.loc.start_token if document.loc is not None else None
    while token is not None:
        is_text = token.kind in (TokenKind.STRING, TokenKind.BLOCK_STRING)
        text = token.value or ""
        form.append((token.kind, texts.setdefault(text, len(texts)) if is_text else text))
        token = token.next
    return tuple(form)


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
        convert = as_text if inner is GraphQLString else _as_it_is
        stored = StoredField(tuple(found.keys), bool(found.listed))
        return GraphQLField(
            GraphQLList(inner) if found.listed else inner,
            resolve=partial(_resolve, stored, convert),
            extensions={STORED: stored},
        )


def _resolve(
    field: StoredField,
    convert: Callable[[Any], Any],
    source: Json,
    info: GraphQLResolveInfo[Reading],
) -> Any:
    info.context.check()
    value = field.read(source)
    if field.listed and value is not None:
        return [convert(item) for item in value]
    return convert(value)


def _as_it_is(value: Any) -> Any:
    return value


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


def _read(
    schema: str, _: Any, info: GraphQLResolveInfo[Reading], **arguments: Any
) -> StoredObjects:
    """One object after the other: no two are held."""
    reading = info.context
    limit, offset = arguments.get("limit") or 0, arguments.get("offset") or 0
    found = reading.objects(
        schema,
        arguments.get("package") or "",
        arguments.get("name") or "",
        offset=max(0, offset),
        limit=limit if 0 < limit <= MAX_OBJECTS else MAX_OBJECTS,
    )
    return StoredObjects(_checked(found, reading.check), reader(info))


def _checked(found: Iterable[bytes], check: Callable[[], None]) -> Iterator[bytes]:
    for raw in found:
        check()
        yield raw


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
