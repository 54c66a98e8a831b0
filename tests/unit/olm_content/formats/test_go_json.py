from typing import Any

import pytest

from olm_content.formats import go_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"b":1,"a":[true,null]}'),
        ("<a&b>", '"\\u003ca\\u0026b\\u003e"'),
        ("\u2028\u2029é", '"\\u2028\\u2029é"'),
        (1e6, "1000000"),
        (0.5, "0.5"),
        (2.0**64, "18446744073709552000"),
        (1e21, "1e+21"),
    ],
)
def test_writes_what_go_writes(value: Any, text: str) -> None:
    assert go_json.dumps(value) == text


def test_maps_are_sorted_on_request() -> None:
    assert go_json.dumps({"b": {"d": 1, "c": 2}, "a": 3}, sort_keys=True) == (
        '{"a":3,"b":{"c":2,"d":1}}'
    )


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        (' { "b" : 1e3 , "a":[ 1.0, "x y" ] } ', '{"b":1e3,"a":[1.0,"x y"]}'),
        (r'"\u00e9 \" <é"', r'"\u00e9 \" \u003cé"'),
        ("12345678901234567890", "12345678901234567890"),
    ],
)
def test_text_is_copied_as_it_stands(text: str, copied: str) -> None:
    assert go_json.compact(text) == copied


def test_texts_of_what_is_in_a_container() -> None:
    assert go_json.elements(' [ 1.0 , {"a": "]"},"," ] ') == ["1.0", '{"a": "]"}', '","']
    assert go_json.members('{"a": [1e3], "b\\u0020" : null}') == {"a": "[1e3]", "b ": "null"}
    assert (go_json.elements("[ ]"), go_json.members("{}")) == ([], {})


def test_there_is_no_json_for_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        go_json.dumps(float("nan"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": "\b\f\x01\x7f", "a": "<&>\u2028"}, '{"a":"\\u003c\\u0026\\u003e\\u2028",'),
        ({"a": [None, 1.0, 1.5]}, '{"a":[null,1,1.5]}'),
        ({"a": ":1.5", "b": 2**70}, '{"a":":1.5","b":1180591620717411303424}'),
    ],
)
def test_what_is_written_quickly_and_what_is_not(value: dict[str, Any], text: str) -> None:
    assert go_json.dumps(value, sort_keys=True).startswith(text)
