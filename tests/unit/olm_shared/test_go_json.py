from typing import Any

import pytest

from olm_shared import go_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"b":1,"a":[true,null]}'),
        ("<a&b>", '"\\u003ca\\u0026b\\u003e"'),
        ("\u2028\u2029é", '"\\u2028\\u2029é"'),
        (1e6, "1000000"),
        (0.5, "0.5"),
    ],
)
def test_writes_what_go_writes(value: Any, text: str) -> None:
    assert go_json.dumps(value) == text


def test_maps_are_sorted_on_request() -> None:
    assert go_json.dumps({"b": {"d": 1, "c": 2}, "a": 3}, sort_keys=True) == (
        '{"a":3,"b":{"c":2,"d":1}}'
    )


def test_there_is_no_json_for_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        go_json.dumps(float("nan"))
