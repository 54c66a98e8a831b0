"""Models to CustomResourceDefinitions, and the files that are checked in."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
import yaml
from msgspec import Struct

from api.crd import Column, condition_column, described, model_schema, type_schema
from api.olm.v1.crds import RESOURCES, definitions
from api.schema import (
    Doc,
    Presence,
    Rule,
    camel_case,
    immutable,
    literal,
    matches,
    max_length,
    min_items,
    union_member,
)
from config.generate import CRD_FOLDER, files
from tests.unit.api.test_crd_cases import schemas_in


class Leaf(Struct, frozen=True, kw_only=True):
    """A leaf."""

    name: Annotated[str, max_length(3), Rule("self != 'x'", "no x"), immutable("stays")]


class Tree(Struct, frozen=True, kw_only=True):
    """A tree.

    It has leaves
    and a size.
    """

    leaves: Annotated[tuple[Annotated[Leaf, Doc("One leaf.")], ...], Doc("Leaves."), min_items(1)]
    union: Annotated[Leaf, Presence.NOT_REQUIRED]
    size: Annotated[int | None, Doc("Metres.")] = None
    kind: Annotated[str, Presence.DEFAULTED] = "oak"
    note: Annotated[str, Presence.REQUIRED] = ""


def test_schema_of_a_model() -> None:
    leaf = {
        "type": "object",
        "description": "A leaf.",
        "properties": {
            "name": {
                "type": "string",
                "maxLength": 3,
                "x-kubernetes-validations": [
                    {"rule": "self != 'x'", "message": "no x"},
                    {"rule": "self == oldSelf", "message": "stays"},
                ],
            }
        },
        "required": ["name"],
    }
    assert model_schema(Tree) == {
        "type": "object",
        "description": "A tree.\n\nIt has leaves and a size.",
        "properties": {
            "leaves": {
                "type": "array",
                "description": "Leaves.",
                "minItems": 1,
                "items": leaf | {"description": "One leaf."},
            },
            "union": leaf,
            "size": {"type": "integer", "description": "Metres."},
            "kind": {"type": "string", "default": "oak"},
            "note": {"type": "string"},
        },
        "required": ["leaves", "note"],
    }


def test_a_model_of_a_type_that_schemas_lack_is_a_programming_error() -> None:
    with pytest.raises(TypeError, match="no schema for"):
        type_schema(Mapping[str, int])


def test_described_joins_lines_and_keeps_paragraphs() -> None:
    assert described("\n    One\n    line.\n\n    Another.\n    ") == "One line.\n\nAnother."


@pytest.mark.parametrize(
    ("name", "key"),
    [("name", "name"), ("package_name", "packageName"), ("crd_upgrade_safety", "crdUpgradeSafety")],
)
def test_camel_case(name: str, key: str) -> None:
    assert camel_case(name) == key


def test_patterns_become_raw_strings() -> None:
    assert matches(r"^\d$", "digit").expression == r"self.matches(r'^\d$')"
    assert literal("it's") == 'r"it\'s"'
    with pytest.raises(ValueError, match="both kinds of quotes"):
        literal("'\"")


def test_union_member() -> None:
    rule = union_member("image", of="type", when="Image", called="source type")
    assert rule.expression == "self.type == 'Image' ? has(self.image) : !has(self.image)"
    assert rule.message == ("image is required when source type is Image, and forbidden otherwise")


def test_column_of_a_condition() -> None:
    assert condition_column("Serving") == Column(
        "Serving", '.status.conditions[?(@.type=="Serving")].status', "string"
    )


def test_checked_in_files_are_what_is_generated() -> None:
    """`make generate` writes them."""
    assert {path: path.read_text() for path in files()} == files()


def test_yaml_and_definition_say_the_same() -> None:
    of_config = (text for path, text in files().items() if path.parent == CRD_FOLDER)
    read = [yaml.safe_load(text) for text in of_config]
    assert read == list(definitions().values())


def test_definitions_are_plain_json() -> None:
    assert json.loads(json.dumps(definitions())) == definitions()


def each_schema() -> list[Any]:
    return [
        pytest.param(schema, id=f"{resource.plural}: {path or 'the object'}")
        for resource, definition in zip(RESOURCES, definitions().values(), strict=True)
        for path, schema in schemas_in(
            definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        )
        if path != "metadata"
    ]


@pytest.mark.parametrize("schema", [row for row in each_schema() if not row.id.endswith("[]")])
def test_every_field_is_explained(schema: dict[str, Any]) -> None:
    assert schema["description"].endswith(".")
