"""Schemas of definitions, a level at a time, whatever a catalog puts into them."""

from typing import Any

import pytest

from console.schemas import MAX_FIELDS, MAX_TEXT, MAX_VALUE, definition_of, level

STRING = {"type": "string"}
SCRIPT = "<script>alert(1)</script>"


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


SPEC = {
    **_object(
        size={"type": "integer", "format": "int32", "default": 3},
        mode={**STRING, "enum": ["fast", "safe"]},
        port={"x-kubernetes-int-or-string": True},
        users={"type": "array", "items": _object(name=STRING)},
        labels={"type": "object", "additionalProperties": STRING},
        groups={
            "type": "object",
            "additionalProperties": {"type": "array", "items": _object(id=STRING)},
        },
        rest={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ),
    "required": ["size"],
}


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ([], {"spec": "object"}),
        (
            ["spec"],
            {
                "size": "integer (int32)",
                "groups": "map of list of object",
                "labels": "map of string",
                "mode": "string",
                "port": "integer or string",
                "rest": "object",
                "users": "list of object",
            },
        ),
        (["spec", "users"], {"name": "string"}),
        (["spec", "groups"], {"id": "string"}),
        (["spec", "rest"], {}),
    ],
)
def test_fields_are_those_of_the_place(path: list[str], fields: dict[str, str]) -> None:
    found = level(_object(spec=SPEC), path)
    assert found is not None
    assert {each.name: each.type for each in found.fields} == fields


def test_what_is_said_of_a_field() -> None:
    found = level(SPEC, [])
    assert found is not None
    fields = {each.name: each for each in found.fields}
    assert (fields["size"].required, fields["size"].default) == (True, "3")
    assert fields["mode"].allowed == ["fast", "safe"]
    assert [name for name, each in fields.items() if each.opens] == ["groups", "users"]


@pytest.mark.parametrize(
    "path", [["nothing"], ["spec", "size", "more"], [""], ["spec", "x" * 9999]]
)
def test_nothing_is_at_the_end_of_a_wrong_path(path: list[str]) -> None:
    assert level(_object(spec=SPEC), path) is None


def test_what_has_any_size_is_bounded() -> None:
    many = level(_object(**{f"field{number}": STRING for number in range(5000)}), [])
    assert many is not None
    assert (len(many.fields), many.left_out) == (MAX_FIELDS, 5000 - MAX_FIELDS)
    long = {"description": "a" * 10**6, "default": "b" * 10**6, "enum": ["c" * 10**6] * 1000}
    found = level(_object(**{"d" * 10**6: {**STRING, **long}}), [])
    assert found is not None
    (field,) = found.fields
    assert len(field.description) == MAX_TEXT
    assert max(map(len, (field.name, field.default, *field.allowed))) == MAX_VALUE
    assert len(field.allowed) < 100


def test_wrappers_in_wrappers_end() -> None:
    schema: dict[str, Any] = dict(STRING)
    for _ in range(1000):
        schema = {"type": "array", "items": schema}
    assert level(_object(a=schema), []) is not None


@pytest.mark.parametrize(
    "odd",
    [{"properties": {"a": []}}, {"properties": None}, {"items": [STRING]}, {"enum": None}, {}],
)
def test_odd_schemas_are_shown_as_far_as_they_go(odd: dict[str, Any]) -> None:
    assert level(odd, []) is not None
    assert level(_object(a=odd), []) is not None


def test_versions_are_those_that_are_served() -> None:
    versions = [
        {"name": "v1", "served": True, "schema": {"openAPIV3Schema": SPEC}},
        {"name": "v1beta1", "served": False},
        {"name": "v2", "served": True},
    ]
    crd = {"metadata": {"name": SCRIPT}, "spec": {"versions": versions}}
    found = definition_of(crd)
    assert (found.name, found.versions) == (SCRIPT, ["v1", "v2"])
    assert found.schemas == {"v1": SPEC, "v2": {}}
