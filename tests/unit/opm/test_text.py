"""How records are written."""

import json
from typing import Any

import pytest
import yaml

from opm.text import json_text, yaml_text

VALUE = {
    "schema": "x",
    "text": "a <b> & \u2028",
    "empty": {},
    "none": [],
    "deep": {"list": [1, {"a": None}]},
}


def test_json_has_four_spaces_and_no_html_escapes() -> None:
    assert json_text(VALUE).decode() == (
        '{\n    "schema": "x",\n    "text": "a <b> & \\u2028",\n    "empty": {},\n    "none": [],\n'
        '    "deep": {\n        "list": [\n            1,\n            {\n'
        '                "a": null\n            }\n        ]\n    }\n}\n'
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(1e21, "1e+21"), (2.0**64, "18446744073709552000"), (1e-7, "1e-7"), (0.5, "0.5")],
)
def test_numbers_are_written_as_upstream_writes_them(number: float, text: str) -> None:
    assert json_text({"n": number, "l": [number]}).decode() == (
        f'{{\n    "n": {text},\n    "l": [\n        {text}\n    ]\n}}\n'
    )


def test_text_that_looks_like_a_number_stays_as_it_is() -> None:
    value = {"a": '": 1e21', "b": "x\n    1e21"}
    assert json.loads(json_text(value)) == value


def test_yaml_is_a_document_with_sorted_keys() -> None:
    text = yaml_text(VALUE).decode()
    assert text.startswith("---\ndeep:\n")
    assert yaml.safe_load(text) == VALUE


def test_every_level_is_four_spaces() -> None:
    value: dict[str, Any] = {"text": "a\n  b\n      c", "list": []}
    for level in range(8):
        value = {"level": level, "child": value, "list": [{"x": ["y", {}]}, "  z"]}
    assert json_text(value).decode() == json.dumps(value, indent=4) + "\n"
