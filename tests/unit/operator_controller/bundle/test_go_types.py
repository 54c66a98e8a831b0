from typing import Any

import pytest

from operator_controller.bundle.go_types import ShapeError, fields_of, read

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
        ("DeploymentSpec", {"replicas": 2.0}, {"replicas": 2}),
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
    ],
)
def test_a_wrong_type_is_told_with_its_place(type_name: str, value: Any, problem: str) -> None:
    with pytest.raises(ShapeError) as error:
        read(type_name, value)
    assert problem in str(error.value)


def test_what_is_read_is_not_what_was_given() -> None:
    given = {"labels": {"a": "b"}}
    read("ObjectMeta", given)["labels"]["a"] = "changed"
    assert given == {"labels": {"a": "b"}}


def test_fields_have_the_names_of_the_types() -> None:
    assert fields_of("Toleration")["tolerationSeconds"] == "*int"
