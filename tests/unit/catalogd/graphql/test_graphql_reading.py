"""Of a stored object what a query asks for is read as the whole object would be."""

from typing import Any

import orjson
import pytest

from catalogd.graphql.reading import reader_of
from tests.unit.catalogd.graphql.test_graphql_schema import BUNDLES, ask

OBJECT: dict[str, Any] = {
    "schema": "s",
    "name": 'n"\\ \N{ROCKET} \u2028',
    "nothing": None,
    "numbers": [1, -1.5, 1e300, 9007199254740993],
    "nested": {"name": "other", "list": [{"name": "x"}]},
    "": "",
}
UNUSUAL = {'a "key"\n': True, "back\\slash": 1}
DEEP = b"[" * 5000 + b"]" * 5000


@pytest.mark.parametrize("keys", [set(), {"name"}, {"nothing", "absent"}, {*OBJECT}])
def test_keys_are_read_as_the_whole_object_has_them(keys: set[str]) -> None:
    expected = {key: value for key, value in OBJECT.items() if key in keys}
    assert reader_of(frozenset(keys))(orjson.dumps(OBJECT)) == expected


@pytest.mark.parametrize("key", UNUSUAL)
def test_keys_of_any_characters_are_read(key: str) -> None:
    assert reader_of(frozenset({key}))(orjson.dumps(UNUSUAL))[key] == UNUSUAL[key]


def test_what_nests_deep_next_to_what_is_asked_for_does_no_harm() -> None:
    levels = 1000  # orjson takes 1024
    raw = b'{"deep":' + b"[" * levels + b"]" * levels + b',"name":"n"}'
    assert reader_of(frozenset({"name"}))(raw)["name"] == "n"


@pytest.mark.parametrize("raw", [b'{"name":', b'{"deep":' + DEEP + b',"name":"n"}', b"\xff"])
def test_what_is_no_object_is_an_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        reader_of(frozenset({"name"}))(raw)


@pytest.mark.parametrize(
    "query",
    [
        "{ olmbundles(limit: 2) { name image } }",
        "{ olmbundles(limit: 2) { name ...more } } fragment more on OlmBundle { image }",
        "{ olmbundles(limit: 2) { ...more } } fragment more on OlmBundle { name ... { image } }",
        "{ olmbundles(limit: 2) { name } olmbundles(limit: 2) { image } }",
        "query ($no: Boolean = false) { olmbundles(limit: 2) { name image @skip(if: $no) } }",
    ],
)
def test_fields_are_found_however_they_are_asked_for(query: str) -> None:
    expected = [{"name": each["name"], "image": each["image"]} for each in BUNDLES[:2]]
    assert ask(query) == {"data": {"olmbundles": expected}}
