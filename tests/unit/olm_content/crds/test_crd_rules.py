"""Each rule alone: what it refuses, in which words, and what it lets by."""

from typing import Any

import pytest

from olm_content.crds import RULES, check
from olm_content.crds.rules import judge
from tests.unit.olm_content.crds.definitions import with_field

UNKNOWN = "unknown change, refusing to determine that change is safe: "
MAXIMA = ("maximum", "maxItems", "maxLength", "maxProperties")
MINIMA = ("minimum", "minItems", "minLength", "minProperties")

Schema = dict[str, Any]


def test_the_rules_are_these() -> None:
    assert [rule.keyword for rule in RULES] == [
        "type",
        "required",
        "default",
        "enum",
        *MAXIMA,
        *MINIMA,
        "pattern",
        "nullable",
        "oneOf",
        "description",
    ]


REFUSED: dict[str, tuple[Schema, Schema, str]] = {
    "another type": (
        {"type": "string"},
        {"type": "integer"},
        'type changed from "string" to "integer"',
    ),
    "a type where any was allowed": ({}, {"type": "string"}, 'type added: "string"'),
    "new required fields": (
        {"required": ["a"]},
        {"required": ["c", "a", "b"]},
        "new required fields added: [b c]",
    ),
    "a new default": (
        {},
        {"default": 5},
        "default value added when there was none previously: 5",
    ),
    "a new default that is false": (
        {},
        {"default": False},
        "default value added when there was none previously: false",
    ),
    "another default": (
        {"default": "a"},
        {"default": "b"},
        'default value changed from "a" to "b"',
    ),
    "a default of another type that Python takes for equal": (
        {"default": 1},
        {"default": True},
        "default value changed from 1 to true",
    ),
    "no default any more": ({"default": {"a": 1}}, {}, 'default value removed: {"a":1}'),
    "an enum where there was none": (
        {},
        {"enum": ["b", "a"]},
        'enum constraint added when there was none previously: ["a" "b"]',
    ),
    "fewer values in an enum": (
        {"enum": ["a", "b", 1]},
        {"enum": ["a", "c"]},
        'allowed enum values removed: ["b" 1]',
    ),
    "no enum any more, which upstream takes for all values removed": (
        {"enum": ["a"]},
        {},
        'allowed enum values removed: ["a"]',
    ),
    "a pattern": ({}, {"pattern": "^a$"}, 'pattern added: "^a$"'),
    "another pattern": (
        {"pattern": "a"},
        {"pattern": "b"},
        'pattern changed from "a" to "b"',
    ),
    "no pattern any more": ({"pattern": "a"}, {}, 'pattern removed: "a"'),
    "nullable": ({}, {"nullable": True}, "nullable added: true"),
    "no longer nullable": ({"nullable": True}, {"nullable": False}, "nullable removed: true"),
    "alternatives where there were none": (
        {},
        {"oneOf": [{"required": ["a"]}]},
        'oneOf constraint added when there was none previously: [{"required":["a"]}]',
    ),
    "one alternative more": (
        {"oneOf": [{"required": ["a"]}]},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        'oneOf schemas added: [{"required":["b"]}]',
    ),
    "the same alternative again, which nothing matches exactly once": (
        {"oneOf": [{"required": ["a"]}]},
        {"oneOf": [{"required": ["a"]}, {"required": ["a"]}]},
        'oneOf schemas added: [{"required":["a"]}]',
    ),
    "a keyword without a rule": (
        {"format": "int32"},
        {"format": "int64"},
        UNKNOWN + 'format changed from "int32" to "int64"',
    ),
    "values of a map that change": (
        {"additionalProperties": {"type": "string", "description": "a"}},
        {"additionalProperties": {"type": "string", "description": "b"}},
        UNKNOWN + "additionalProperties changed",
    ),
    "a map that is closed": (
        {},
        {"additionalProperties": False},
        UNKNOWN + "additionalProperties added",
    ),
    "unknown fields pruned from now on": (
        {"x-kubernetes-preserve-unknown-fields": True},
        {},
        UNKNOWN + "x-kubernetes-preserve-unknown-fields removed: true",
    ),
    "an explicit false where the API has a third state": (
        {},
        {"x-kubernetes-preserve-unknown-fields": False},
        UNKNOWN + "x-kubernetes-preserve-unknown-fields added: false",
    ),
    "a validation rule": (
        {},
        {"x-kubernetes-validations": [{"rule": "self > 0"}]},
        UNKNOWN + 'x-kubernetes-validations added: [{"rule":"self > 0"}]',
    ),
}

for _keyword in MAXIMA:
    REFUSED[f"{_keyword} where there was none"] = (
        {},
        {_keyword: 0},
        f"{_keyword} constraint added when there was none previously: 0",
    )
    REFUSED[f"a lower {_keyword}"] = (
        {_keyword: 10},
        {_keyword: 9},
        f"{_keyword} decreased from 10 to 9",
    )
for _keyword in MINIMA:
    REFUSED[f"{_keyword} where there was none"] = (
        {},
        {_keyword: 0},
        f"{_keyword} constraint added when there was none previously: 0",
    )
    REFUSED[f"a higher {_keyword}"] = (
        {_keyword: 1},
        {_keyword: 2},
        f"{_keyword} increased from 1 to 2",
    )


@pytest.mark.parametrize(("old", "new", "problem"), REFUSED.values(), ids=REFUSED)
def test_refuses(old: Schema, new: Schema, problem: str) -> None:
    assert list(judge(old, new)) == [problem]


ALLOWED: dict[str, tuple[Schema, Schema]] = {
    "required becomes optional": ({"required": ["a", "b"]}, {"required": ["b"]}),
    "required in another order": ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    "more values in an enum": ({"enum": ["a"]}, {"enum": ["b", "a"]}),
    "another description": ({"description": "a"}, {"description": "b"}),
    "a description": ({}, {"description": "b"}),
    "the same default, written in another order": (
        {"default": {"a": 1, "b": 2}},
        {"default": {"b": 2.0, "a": 1}},
    ),
    "alternatives documented otherwise": (
        {"oneOf": [{"title": "a", "required": ["a"]}]},
        {"oneOf": [{"description": "b", "required": ["a"]}]},
    ),
    "empty and absent where they mean the same": (
        {"required": [], "nullable": False, "format": "", "allOf": []},
        {"default": None, "uniqueItems": False},
    ),
    "nested schemas that mean the same": (
        {"additionalProperties": {"type": "string", "nullable": False}},
        {"additionalProperties": {"enum": [], "type": "string"}},
    ),
    "numbers written otherwise": ({"multipleOf": 2}, {"multipleOf": 2.0}),
}
for _keyword in MAXIMA:
    ALLOWED[f"a higher {_keyword}"] = ({_keyword: 9}, {_keyword: 10})
    ALLOWED[f"no {_keyword} any more"] = ({_keyword: 9}, {})
for _keyword in MINIMA:
    ALLOWED[f"a lower {_keyword}"] = ({_keyword: 2}, {_keyword: 1})
    ALLOWED[f"no {_keyword} any more"] = ({_keyword: 9}, {})


@pytest.mark.parametrize(("old", "new"), ALLOWED.values(), ids=ALLOWED)
def test_allows(old: Schema, new: Schema) -> None:
    assert list(judge(old, new)) == []


def test_what_is_below_is_reported_at_its_own_path() -> None:
    old = with_field({"type": "array", "items": {"type": "string"}})
    new = with_field({"type": "array", "items": {"type": "integer"}})
    assert [(f.field, f.problem) for f in check(old, new)] == [
        ("^.spec.field.items", 'type changed from "string" to "integer"')
    ]


def test_values_of_maps_are_reported_at_their_own_path_too() -> None:
    old = with_field({"additionalProperties": {"type": "string"}})
    new = with_field({"additionalProperties": {"type": "integer"}})
    assert [(f.field, f.problem) for f in check(old, new)] == [
        ("^.spec.field", UNKNOWN + "additionalProperties changed"),
        ("^.spec.field.additionalProperties", 'type changed from "string" to "integer"'),
    ]


def test_parts_of_combinations_are_compared_one_by_one() -> None:
    old = with_field({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})
    new = with_field({"oneOf": [{"required": ["b"]}]})
    assert [(f.field, f.problem) for f in check(old, new)] == [
        ("^.spec.field.oneOf[1]", "may not be removed"),
        ("^.spec.field", 'allowed oneOf schemas removed: [{"required":["a"]}]'),
        ("^.spec.field.oneOf[0]", "new required fields added: [b]"),
    ]


def test_integers_of_any_size_are_compared() -> None:
    old, new = with_field({"default": 1 << 70}), with_field({"default": 1 << 71})
    assert len(check(old, new)) == 1
    assert check(old, old) == ()
