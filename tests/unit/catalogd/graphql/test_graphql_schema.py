"""Types that objects show, and queries over them."""

import time
from collections.abc import Iterable
from typing import Any

import graphql
import orjson
import pytest
from graphql import GraphQLError, get_introspection_query
from graphql.execution import Executor

from catalogd.graphql import schema
from catalogd.graphql.direct import encoded
from catalogd.graphql.names import field_name, root_name, type_name
from catalogd.graphql.schema import CatalogSchema, Reading
from catalogd.graphql.shape import MAX_FIELDS, BadShapeError, CatalogShape

PACKAGE = {
    "schema": "olm.package",
    "name": "shop",
    "defaultChannel": "stable",
    "icon": {"base64data": "aGk=", "mediatype": "image/svg+xml"},
}
CHANNEL = {
    "schema": "olm.channel",
    "package": "shop",
    "name": "stable",
    "entries": [{"name": "shop.v1"}, {"name": "shop.v2", "replaces": "shop.v1", "skips": ["a"]}],
}
BUNDLES = [
    {
        "schema": "olm.bundle",
        "package": package,
        "name": f"{package}.v{number}",
        "image": f"registry.test/{package}:{number}",
        "properties": [
            {"type": "olm.package", "value": {"packageName": package, "version": f"{number}.0.0"}}
        ],
    }
    for package in ("shop", "till")
    for number in range(120)
]
CATALOG: list[dict[str, Any]] = [PACKAGE, CHANNEL, *BUNDLES]


def ask(query: str, catalog: list[dict[str, Any]] | None = None, **given: Any) -> dict[str, Any]:
    """The answer of a catalog, whose shape was stored and read again."""
    objects = CATALOG if catalog is None else catalog
    shape = CatalogShape()
    for each in objects:
        shape.add(each.get("schema", ""), each)
    stored = orjson.loads(orjson.dumps(shape.document()))

    def read(schema: str, package: str, name: str, *, offset: int, limit: int) -> Iterable[bytes]:
        found = [
            each
            for each in objects
            if each.get("schema") == schema
            and package in ("", each.get("package"))
            and name in ("", each.get("name"))
        ]
        return map(orjson.dumps, found[offset : offset + limit])

    reading = Reading(read, given.pop("check", lambda: None))
    return plain(CatalogSchema(CatalogShape.from_document(stored)).answer(query, reading, **given))


def plain(answer: dict[str, Any]) -> dict[str, Any]:
    """As clients get it."""
    found: dict[str, Any] = orjson.loads(encoded(answer))
    return found


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("name", "name"),
        ("package-name", "packageName"),
        ("default_channel", "defaultChannel"),
        ("related-images", "relatedImages"),
        ("", "value"),
        ("123invalid", "field_123invalid"),
        ("my.field.name", "myFieldName"),
        ("CamelCase", "camelCase"),
        ("UPPERCASE", "uppercase"),
        ("mixed_case-field.name", "mixedCaseFieldName"),
        ("__typename", "typename"),
        ("-", "field_"),
    ],
)
def test_keys_are_called_as_upstream_calls_them(key: str, name: str) -> None:
    assert field_name(key) == name


@pytest.mark.parametrize(
    ("schema", "root", "type_"),
    [
        ("olm.package", "olmpackages", "OlmPackage"),
        ("olm.csv.metadata", "olmcsvmetadatas", "OlmCsvMetadata"),
        ("complex.type-name_here", "complextypenameheres", "ComplexTypeNameHere"),
        ("123invalid", "field_123invalids", "Invalid"),
        ("...", "s", "Unknown"),
    ],
)
def test_schemas_are_called_as_upstream_calls_them(schema: str, root: str, type_: str) -> None:
    assert (root_name(schema), type_name(schema)) == (root, type_)


def test_a_summary_counts_objects_and_fields_of_each_schema() -> None:
    found = ask("{ summary { totalSchemas schemas { name totalObjects totalFields } } }")
    assert found == {
        "data": {
            "summary": {
                "totalSchemas": 3,
                "schemas": [
                    {"name": "olm.bundle", "totalObjects": 240, "totalFields": 5},
                    {"name": "olm.channel", "totalObjects": 1, "totalFields": 4},
                    {"name": "olm.package", "totalObjects": 1, "totalFields": 4},
                ],
            }
        }
    }


def test_arrays_of_objects_are_typed_and_other_values_are_json() -> None:
    found = ask(
        "{ olmpackages { name icon } olmchannels { entries { name replaces skips } }"
        ' olmbundles(name: "shop.v7") { properties { type value } } }'
    )
    assert "errors" not in found
    data = found["data"]
    assert data["olmpackages"] == [
        {"name": "shop", "icon": '{"base64data":"aGk=","mediatype":"image/svg+xml"}'}
    ]
    assert data["olmchannels"][0]["entries"] == [
        {"name": "shop.v1", "replaces": None, "skips": None},
        {"name": "shop.v2", "replaces": "shop.v1", "skips": ["a"]},
    ]
    assert data["olmbundles"] == [
        {
            "properties": [
                {"type": "olm.package", "value": '{"packageName":"shop","version":"7.0.0"}'}
            ]
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "first", "count"),
    [
        ("", "shop.v0", 100),
        ("(limit: 3)", "shop.v0", 3),
        ("(limit: 1000)", "shop.v0", 100),
        ("(limit: 0)", "shop.v0", 100),
        ("(limit: -1, offset: -5)", "shop.v0", 100),
        ("(offset: 119, limit: 2)", "shop.v119", 2),
        ('(package: "till", limit: 5)', "till.v0", 5),
        ("(offset: 239)", "till.v119", 1),
    ],
)
def test_pages_hold_a_hundred_objects_at_most(arguments: str, first: str, count: int) -> None:
    found = ask(f"{{ olmbundles{arguments} {{ name }} }}")["data"]["olmbundles"]
    assert (found[0]["name"], len(found)) == (first, count)


def test_a_page_behind_the_last_object_is_empty() -> None:
    assert ask("{ olmbundles(offset: 500) { name } }") == {"data": {"olmbundles": []}}


def test_variables_and_operation_names_are_understood() -> None:
    query = (
        "query A { summary { totalSchemas } }"
        " query B($p: String) { olmbundles(package: $p, limit: 1) { name } }"
    )
    found = ask(query, variables={"p": "till"}, operation="B")
    assert found == {"data": {"olmbundles": [{"name": "till.v0"}]}}


def test_clients_can_ask_for_the_types() -> None:
    found = ask(get_introspection_query())
    assert "errors" not in found
    names = {each["name"] for each in found["data"]["__schema"]["types"]}
    assert {"Query", "OlmBundle", "OlmBundleProperties", "OlmChannelEntries"} <= names


@pytest.mark.parametrize(
    ("values", "asked", "answers"),
    [
        ([1, 2.5], "n", [1.0, 2.5]),
        ([1, 2**31], "n", [1.0, 2147483648.0]),
        ([7.0, 8], "n", [7, 8]),
        ([True, "yes"], "n", ["true", "yes"]),
        ([None, 3], "n", [None, 3]),
        (["a", ["b"]], "n", ["a", '["b"]']),
        ([[1, 2], []], "n", [[1, 2], []]),
        ([[1, "b"], None], "n", [["1", "b"], None]),
        ([[{"a": 1}, "b"]], "n", [['{"a":1}', "b"]]),
        ([[[1]]], "n", [["[1]"]]),
        ([[{"x": {"y": 1}}], [{"x": 2}]], "n { x }", [[{"x": '{"y":1}'}], [{"x": "2"}]]),
        ([[{}]], "n", [["{}"]]),
        ([[], None], "n", [[], None]),
    ],
)
def test_a_field_of_several_types_gets_the_one_that_holds_all(
    values: list[Any], asked: str, answers: list[Any]
) -> None:
    objects = [{"schema": "x", "n": value} for value in values]
    found = ask(f"{{ xs {{ {asked} }} }}", objects)
    assert found == {"data": {"xs": [{"n": answer} for answer in answers]}}


def test_keys_of_one_name_share_a_field() -> None:
    objects: list[dict[str, Any]] = [
        {"schema": "x", "a-b": None, "aB": 1},
        {"schema": "x", "a-b": 2},
    ]
    assert ask("{ xs { aB } }", objects) == {"data": {"xs": [{"aB": 1}, {"aB": 2}]}}


def test_schemas_of_one_name_do_not_break_the_others() -> None:
    objects = [{"schema": "a.b"}, {"schema": "ab"}, {"schema": "A.B"}, {"schema": "query"}]
    found = ask("{ summary { totalSchemas } querys { schema } abs { schema } }", objects)
    assert "errors" not in found
    assert found["data"]["summary"] == {"totalSchemas": 4}


def test_a_catalog_without_schemas_has_a_summary() -> None:
    found = ask("{ summary { totalSchemas schemas { name } } }", [{"name": "x"}])
    assert found == {"data": {"summary": {"totalSchemas": 0, "schemas": []}}}


def test_hostile_keys_are_bounded() -> None:
    objects = [{"schema": "x", **{f"k{n}": 1 for n in range(MAX_FIELDS + 10)}}]
    found = ask("{ summary { schemas { totalFields } } }", objects)
    assert found["data"]["summary"]["schemas"] == [{"totalFields": MAX_FIELDS}]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{ nosuch }", "Cannot query field 'nosuch' on type 'Query'."),
        ("{", "Syntax Error: Expected Name, found <EOF>."),
        (
            "{ a { b { c { d { e { f { g { h { i { j { k } } } } } } } } } } }",
            "maximum depth of 10",
        ),
        (
            "{ " + " ".join(f"a{n}: summary {{ totalSchemas }}" for n in range(51)) + " }",
            "maximum alias count of 50",
        ),
        ("{ summary { " + "totalSchemas " * 500 + "} }", "maximum field count of 500"),
        (
            "{ ...F0 } "
            + " ".join(f"fragment F{n} on Query {{ {f'...F{n + 1} ' * 9} }}" for n in range(5))
            + " fragment F5 on Query { summary { totalSchemas } }",
            "maximum field count of 500",
        ),
        ("{ ...F } fragment F on Query { ...F }", "maximum depth of 10"),
        ("{a" * 50_000, "nested too deeply"),
    ],
)
def test_what_asks_for_too_much_is_refused(query: str, message: str) -> None:
    found = ask(query)
    assert found["data"] is None
    assert message in found["errors"][0]["message"]


def test_the_time_of_a_query_is_bounded() -> None:
    end = time.monotonic() - 1

    def check() -> None:
        if time.monotonic() > end:
            raise GraphQLError("query took too long")

    found = ask("{ olmbundles { name } }", check=check)
    assert found["data"] == {"olmbundles": None}
    assert found["errors"][0]["message"] == "query took too long"


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"format": 2, "schemas": {}},
        {"format": 1, "schemas": {"x": {"objects": 1, "fields": {"a": 1}}}},
    ],
)
def test_a_stored_shape_of_another_form_is_refused(document: Any) -> None:
    with pytest.raises(BadShapeError):
        CatalogShape.from_document(document)


QUERIES = [
    "{ olmbundles(limit: 3) { name again: image properties { type value } } }",
    "{ olmchannels { entries { name replaces skips __typename } __typename } }",
    """query($no: Boolean!) { olmpackages { name @skip(if: $no) icon ...more } }
    fragment more on OlmPackage { defaultChannel name @include(if: $no) }""",
    "{ olmodds { count ratio flag none mixed parts { number list } } }",
    "{ one: olmbundles(limit: 1) { name } other: olmbundles(limit: 1) { image } }",
    "{ olmodds { name flag mixed } }",
    "{ olmodds { flag parts { text } } }",
    "{ olmodds { called: name flag } }",
    "{ olmodds { name __typename } }",
]
ODD = {
    "schema": "olm.odd",
    "name": "odd",
    "count": 3.0,
    "ratio": 0.5,
    "flag": False,
    "none": None,
    "mixed": [1, "a"],
    "parts": [{"number": 1, "list": [{"a": 1}]}, {"number": None}, {}, {"text": "x"}, None],
}
ODDS: list[dict[str, Any]] = [
    {"schema": "olm.odd", "name": "text", "flag": True, "mixed": "a", "parts": [{"text": "y"}]},
    ODD,
    {"schema": "olm.odd", "name": None, "mixed": "a"},
]
"""The first and the last are read at once where the one between them is not."""


@pytest.mark.parametrize("query", QUERIES)
def test_objects_are_read_as_the_library_reads_them(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {"no": True} if "$no" in query else None
    catalog = [*CATALOG, *ODDS]
    here = ask(query, catalog, variables=variables)
    monkeypatch.setattr(schema, "ProjectingExecutor", Executor)
    assert here == ask(query, catalog, variables=variables)
    assert "errors" not in here


def test_an_object_that_does_not_fit_is_reported_with_its_place() -> None:
    """A shape of another catalog: what it says to be a number is none here."""
    shape = CatalogShape()
    shape.add("olm.odd", ODD)
    bad = orjson.dumps({**ODD, "count": "many"})
    reading = Reading(lambda *_, **__: iter([orjson.dumps(ODD), bad]), lambda: None)
    found = plain(CatalogSchema(shape).answer("{ olmodds { count } }", reading))
    assert found["data"] == {"olmodds": [{"count": 3}, {"count": None}]}
    assert found["errors"][0]["path"] == ["olmodds", 1, "count"]


def test_queries_that_differ_in_texts_alone_are_validated_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    validated = []

    def validate(*given: Any) -> Any:
        validated.append(given)
        return graphql.validate(*given)

    monkeypatch.setattr(schema, "validate", validate)
    shape = CatalogShape()
    shape.add("olm.bundle", BUNDLES[0])
    types = CatalogSchema(shape)
    twice = "{ a: olmbundles(package: %s) { name } a: olmbundles(package: %s) { name } }"
    reading = Reading(lambda *_, **__: iter(()), lambda: None)
    for one, other, valid in [
        ('"x"', '"x"', True),
        ('"y"', '"y"', True),
        ('"x"', '"y"', False),
        ("7", "7", False),
        ("[]", '"y"', False),
    ]:
        answer = types.answer(twice % (one, other), reading)
        assert ("errors" not in answer) is valid, (one, other)
    assert len(validated) == 4
