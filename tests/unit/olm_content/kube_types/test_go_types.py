from typing import Any

import pytest

from olm_content.kube_types.go_types import ShapeError, read
from olm_content.kube_types.tables import fields_of

SCHEMA = "JSONSchemaProps"


@pytest.mark.parametrize(
    ("type_name", "value", "wanted"),
    [
        ("Container", {"name": "a", "unknown": 1}, {"name": "a"}),
        ("Container", {"image": ""}, {"name": ""}),
        ("Container", {"name": "a", "stdin": False, "args": []}, {"name": "a"}),
        ("Container", {"name": "a", "args": [None, "b"]}, {"name": "a", "args": ["", "b"]}),
        ("Volume", {"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}),
        ("ObjectMeta", {"labels": {"a": None}}, {"labels": {"a": ""}}),
        ("ResourceRequirements", {"limits": {"cpu": 0.5}}, {"limits": {"cpu": "500m"}}),
        ("ResourceFieldSelector", {"resource": "r"}, {"resource": "r", "divisor": "0"}),
        ("HTTPGetAction", {"port": "http"}, {"port": "http"}),
        (SCHEMA, {"additionalProperties": False}, {"additionalProperties": False}),
        (SCHEMA, {"items": {"type": "string", "x": 1}}, {"items": {"type": "string"}}),
        (SCHEMA, {"items": []}, {}),
        (SCHEMA, {"dependencies": {"a": ["b"]}}, {"dependencies": {"a": ["b"]}}),
        (SCHEMA, {"default": {"any": [1]}}, {"default": {"any": [1]}}),
        (SCHEMA, {"minimum": 1, "nullable": False}, {"minimum": 1}),
        (SCHEMA, {"items": {"x": 1}}, {"items": {}}),
        (SCHEMA, {"maximum": 2**63 - 1}, {"maximum": 9223372036854776000}),
        ("DeploymentSpec", {"replicas": 2.0}, {"replicas": 2}),
        ("DeploymentSpec", {"replicas": 1e22}, {"replicas": 0}),
        ("Toleration", {"tolerationSeconds": 1e22}, {"tolerationSeconds": -(2**63)}),
        ("ResourceRequirements", {"limits": {"cpu": 1e20}}, {"limits": {"cpu": "100E"}}),
    ],
)
def test_values_come_back_as_their_type_writes_them(
    type_name: str, value: Any, wanted: Any
) -> None:
    assert read(type_name, value) == wanted


@pytest.mark.parametrize(
    ("type_name", "value", "problem"),
    [
        ("Container", {"name": 1}, "name: cannot convert int64 to string"),
        ("Container", [], "cannot restore struct from: slice"),
        ("PodSpec", {"containers": [{"args": "x"}]}, "containers[0].args: cannot restore slice"),
        ("ObjectMeta", {"labels": {"a": True}}, "labels.a: unrecognized type: string"),
        ("DeploymentSpec", {"replicas": 1.5}, "replicas: cannot convert float64 to int32"),
        ("ResourceRequirements", {"limits": {"cpu": "x"}}, "limits.cpu: quantities must match"),
        ("ObjectMeta", {"creationTimestamp": "now"}, 'creationTimestamp: parsing time "now"'),
        (SCHEMA, {"additionalProperties": "x"}, "boolean or JSON schema expected"),
        ("CSVSpec", {"version": "1.2.x"}, 'Invalid character(s) found in patch number "x"'),
        ("CSVSpec", {"release": "1.02"}, "must not contain leading zeroes"),
        ("CSVSpec", {"release": "1+2"}, 'found in prerelease "1+2"'),
        ("CSVSpec", {"version": 1}, "cannot unmarshal number into Go value of type string"),
        ("CSVSpec", {"version": "1-rc"}, "Short version cannot contain PreRelease"),
        ("ObjectMeta", {"creationTimestamp": "2021-13-01T00:00:00Z"}, "month out of range"),
        ("PodSpec", {"hostNetwork": "yes"}, "hostNetwork: unrecognized type: bool"),
        ("ObjectMeta", {"creationTimestamp": "2020-01-01"}, 'cannot parse "" as "T"'),
        ("ObjectMeta", {"creationTimestamp": "2020-01-01t"}, 'cannot parse "t" as "T"'),
        ("ObjectMeta", {"creationTimestamp": "2020-01-01T00:00:00Zx"}, 'extra text: "x"'),
        ("HTTPGetAction", {"port": 2.5}, "cannot unmarshal number 2.5 into Go value of type int32"),
        ("PodSpec", {"hostNetwork": 1, "containers": 2}, "containers: cannot restore slice"),
    ],
)
def test_a_wrong_type_is_reported_with_its_place(type_name: str, value: Any, problem: str) -> None:
    with pytest.raises(ShapeError) as error:
        read(type_name, value)
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"items": "x"}, None),
        ({"items": {"properties": "x"}}, "properties of type map[string]v1.JSONSchemaProps"),
        (
            {"items": {"properties": {"a": {"items": {"type": 1}}}}},
            "number into Go struct field JSONSchemaProps.properties.items.type of type string",
        ),
        ({"additionalProperties": {"maxItems": 1.5}}, "number 1.5 into Go struct field"),
        ({"items": [{"enum": 1}]}, "JSONSchemaProps.enum of type []v1.JSON"),
        ({"properties": {"a": {"type": 1}}}, "cannot convert int64 to string"),
    ],
)
def test_schemas_within_alternatives_are_read_as_json(value: Any, problem: str | None) -> None:
    if problem is None:
        assert read(SCHEMA, value) == {}
        return
    with pytest.raises(ShapeError) as error:
        read(SCHEMA, value)
    assert problem in error.value.problem


def test_what_is_read_is_not_what_was_given() -> None:
    given = {"labels": {"a": "b"}}
    read("ObjectMeta", given)["labels"]["a"] = "changed"
    assert given == {"labels": {"a": "b"}}


def test_fields_have_the_names_of_the_types() -> None:
    assert fields_of("Toleration")["tolerationSeconds"] == "*int"
