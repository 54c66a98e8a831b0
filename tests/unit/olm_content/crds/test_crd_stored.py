"""What is asked about stored objects, and what is made of the answers."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_content.bounded_lines import MAX_MESSAGE_BYTES
from olm_content.crds import check
from olm_content.crds.stored import (
    MAX_STORED_BYTES,
    Examined,
    Fault,
    Question,
    duplicates_in,
    faults_of,
    prepared,
    questions,
    report_with_stored,
    trial,
)
from olm_content.crds.structural import as_read
from tests.unit.olm_content.crds.definitions import NAME, definition, version, with_field

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
KEEP = {"x-kubernetes-preserve-unknown-fields": True}
META = {"apiVersion": "test.example.com/v1", "kind": "Sample", "metadata": {"name": "a"}}


def fields(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties}


READ: dict[str, tuple[Schema, Any, Any, list[str]]] = {
    "known fields stay": (fields(a=TEXT), {"a": "x"}, {"a": "x"}, []),
    "unknown fields go": (fields(a=TEXT), {"a": "x", "b": {"c": 1}}, {"a": "x"}, ["b"]),
    "at any depth": (
        fields(a=fields(b=TEXT)),
        {"a": {"b": "x", "c": 1}},
        {"a": {"b": "x"}},
        ["a.c"],
    ),
    "in lists": (
        fields(l={"type": "array", "items": fields(a=TEXT)}),
        {"l": [{"a": "x"}, {"b": 1}]},
        {"l": [{"a": "x"}, {}]},
        ["l[1].b"],
    ),
    "in maps": (
        fields(m={"type": "object", "additionalProperties": fields(a=TEXT)}),
        {"m": {"k": {"a": "x", "b": 1}}},
        {"m": {"k": {"a": "x"}}},
        ["m.k.b"],
    ),
    "unless they are kept": (
        fields(a={"type": "object", **KEEP}),
        {"a": {"b": 1}},
        {"a": {"b": 1}},
        [],
    ),
    "but not below a known field": (
        {**fields(a=fields(b=TEXT)), **KEEP},
        {"a": {"c": 1}, "d": {"e": 1}},
        {"a": {}, "d": {"e": 1}},
        ["a.c"],
    ),
    "lists without a schema are kept too": (
        fields(a={"type": "array", **KEEP}),
        {"a": [{"b": 1}]},
        {"a": [{"b": 1}]},
        [],
    ),
    "an embedded object has its own metadata": (
        fields(a={"type": "object", "x-kubernetes-embedded-resource": True}),
        {"a": {"kind": "X", "metadata": {"name": "n"}, "spec": 1}},
        {"a": {"kind": "X", "metadata": {"name": "n"}}},
        ["a.spec"],
    ),
    "defaults are added": (fields(a={**TEXT, "default": "d"}), {}, {"a": "d"}, []),
    "and in what defaults add": (
        fields(a={**fields(b={**TEXT, "default": "d"}), "default": {}}),
        {},
        {"a": {"b": "d"}},
        [],
    ),
    "in place of a null": (fields(a={**TEXT, "default": "d"}), {"a": None}, {"a": "d"}, []),
    "that may not be there": (
        fields(a={**TEXT, "default": "d", "nullable": True}),
        {"a": None},
        {"a": None},
        [],
    ),
    "other nulls are as good as absent": (fields(a=TEXT), {"a": None}, {}, []),
}


@pytest.mark.parametrize(("schema", "value", "read", "lost"), READ.values(), ids=READ)
def test_objects_are_read_as_a_server_reads_them(
    schema: Schema, value: Any, read: Any, lost: list[str]
) -> None:
    under = fields(**schema["properties"]) | {k: v for k, v in schema.items() if k in KEEP}
    assert as_read({**META, **value}, under) == ({**META, **read}, lost)


def asked(old: KubeObject, new: KubeObject) -> list[tuple[str, str]]:
    found = questions(old, new, check(old, new))
    assert {q.kind for q in found} <= {
        GVK("test.example.com", v, "Sample") for v in ("v1", "v1beta1", "v2")
    }
    return [(q.kind.version, q.version) for q in found]


OTHER = fields(spec={"type": "integer"})
PLAIN = fields(spec=TEXT)
ASKED = {
    "nothing found": (definition(version("v1", PLAIN)), definition(version("v1", PLAIN)), []),
    "the version itself": (
        definition(version("v1", PLAIN)),
        definition(version("v1", OTHER)),
        [("v1", "v1")],
    ),
    "read in another version where that one is not served": (
        definition(version("v1", PLAIN), version("v1beta1", PLAIN, served=False)),
        definition(version("v1", PLAIN), version("v1beta1", OTHER, served=False)),
        [("v1", "v1beta1")],
    ),
    "a new served version": (
        definition(version("v1", PLAIN)),
        definition(version("v1", PLAIN), version("v2", OTHER)),
        [("v1", "v2")],
    ),
    "scope": (
        definition(version("v1", PLAIN)),
        definition(version("v1", PLAIN), scope="Cluster"),
        [],
    ),
    "nothing served": (
        definition(version("v1", PLAIN, served=False)),
        definition(version("v1", OTHER)),
        [],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), ASKED.values(), ids=ASKED)
def test_what_is_asked(old: KubeObject, new: KubeObject, expected: list[tuple[str, str]]) -> None:
    assert asked(old, new) == expected


def test_a_trial_holds_the_objects_without_what_only_stored_ones_have() -> None:
    schema = fields(spec=TEXT)
    question = Question(NAME, GVK("test.example.com", "v1", "Sample"), "v2", schema)
    stored = {**META, "metadata": {"name": "a", "uid": "u", "managedFields": [1]}, "spec": "x"}
    objects, lost = prepared(question, [stored, {**stored, "gone": 1}])
    assert lost == [[], ["gone"]]
    shown = {**META, "apiVersion": "test.example.com/v2", "spec": "x"}
    assert objects == [shown, shown]
    root = trial(schema, objects)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert root["properties"]["objects"]["default"] == objects
    assert root["properties"]["objects"]["items"]["properties"] == schema["properties"]


def test_the_first_fault_of_each_object_is_kept() -> None:
    at = "spec.validation.openAPIV3Schema.properties[objects].default"
    causes = [
        (f"{at}.[2].spec.b", "FieldValueInvalid", "second"),
        (f"{at}.[2].spec.a", "FieldValueRequired", "first"),
        (f"{at}[0].spec", "FieldValueInvalid", "rule"),
        (f"{at}.[10].spec.l[3]", "FieldValueTooLong", "long"),
        ("spec.names", "FieldValueInvalid", "not about an object"),
    ]
    assert faults_of(causes) == {
        0: Fault("spec", "invalid value", "rule"),
        2: Fault("spec.a", "required and missing", "first"),
        10: Fault("spec.l[3]", "too long", "long"),
    }


def test_sets_and_maps_hold_nothing_twice() -> None:
    items = {"type": "object", "properties": {"n": TEXT, "v": TEXT}}
    schema = fields(
        s={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"},
        m={
            "type": "array",
            "items": items,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["n"],
        },
        l={"type": "array", "items": TEXT},
    )
    objects: list[KubeObject] = [
        {"s": ["a", "b"], "m": [{"n": "a", "v": "x"}, {"n": "b", "v": "x"}], "l": ["a", "a"]},
        {"s": ["a", "a"]},
        {"m": [{"n": "a", "v": "x"}, {"n": "a", "v": "y"}]},
    ]
    assert duplicates_in(objects, schema) == {
        1: Fault("s", "duplicate value"),
        2: Fault("m", "duplicate value"),
    }


def stored(name: str, namespace: str = "") -> KubeObject:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {**META, "metadata": metadata}


def test_lines() -> None:
    about = f"stored objects of {NAME} as v1: "
    examined = Examined(NAME, "v1")
    assert examined.line == about + "there are none"
    examined.stopped = "samples is forbidden"
    assert examined.line == about + "not looked at: samples is forbidden"
    examined = Examined(NAME, "v1")
    fault = Fault("spec.a", "of another type", 'Invalid value: "secret"')
    examined.add([stored("a", "ns"), stored("b")], [[], []], {0: fault})
    assert examined.line == about + "1 of 2 would be invalid; ns/a: spec.a: of another type"
    examined.add([stored("c")], [["spec.b"]], {})
    examined.stopped, examined.total = "stopped after 3 objects", 70
    assert examined.line == about + (
        "at least 1 of 70 would be invalid (3 checked); stopped after 3 objects; "
        "1 would lose fields; ns/a: spec.a: of another type"
    )
    examined.total = None
    assert "at least 1 of an unknown number would be invalid (3 checked)" in examined.line


def test_what_is_lost_is_shown_where_nothing_is_invalid() -> None:
    examined = Examined(NAME, "v1")
    examined.add([stored("a"), stored("b")], [["spec.b"], []], {})
    assert examined.line.endswith(
        "0 of 2 would be invalid; 1 would lose fields; a: spec.b: would be lost"
    )


def test_few_objects_are_named_and_all_are_counted() -> None:
    examined = Examined(NAME, "v1")
    objects = [stored(f"o{i}") for i in range(9)]
    examined.add(objects, [[]] * 9, {i: Fault("spec", "forbidden") for i in range(9)})
    assert examined.invalid == 9
    assert [example.name for example in examined.examples] == ["o0", "o1", "o2"]


def test_the_report_leaves_room_for_what_is_stored() -> None:
    old = with_field({"type": "object", "properties": {f"f{i}": TEXT for i in range(900)}})
    new = with_field({"type": "object", "properties": {f"f{i}": OTHER for i in range(900)}})
    examined = [Examined(f"{'x' * 200}{i}.example.com", "v1") for i in range(60)]
    text = report_with_stored(check(old, new), examined)
    assert MAX_MESSAGE_BYTES - 1000 < len(text.encode()) <= MAX_MESSAGE_BYTES
    *found, rest = text.partition("\nstored objects of ")
    assert found[0].splitlines()[-1].endswith(" more findings")
    assert len(rest.encode()) < MAX_STORED_BYTES
    assert rest.splitlines()[-1].endswith(" more definitions")
    assert report_with_stored(check(old, new), ()).startswith("validating upgrade")
