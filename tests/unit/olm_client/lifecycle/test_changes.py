"""What a dry run says would change, and what the second step of operator-controller does to it."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_client.lifecycle.changes import (
    FieldChange,
    field_changes,
    images_of,
    value_text,
    without_leftovers,
)

MANAGER = "olm.operatorframework.io"


def configmap(data: dict[str, str], **meta: Any) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "namespace": "ns", **meta},
        "data": data,
    }


def workload(**container: Any) -> KubeObject:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "ns"},
        "spec": {
            "template": {
                "spec": {
                    "initContainers": [{"name": "i", "image": "init:1"}],
                    "containers": [{"name": "a", **container}],
                }
            }
        },
    }


def entry(fields: dict[str, Any], operation: str = "Apply", manager: str = MANAGER) -> Any:
    return {"manager": manager, "operation": operation, "fieldsV1": fields}


def test_what_the_server_keeps_itself_is_no_change() -> None:
    revision = f"{MANAGER}/revision"
    live = configmap(
        {"k": "v"},
        annotations={revision: "1"},
        resourceVersion="1",
        generation=1,
        managedFields=[entry({})],
    )
    result = configmap({"k": "v"}, annotations={revision: "2"}, resourceVersion="2", generation=2)
    assert field_changes(live, {**result, "status": {"x": 1}}) == []
    other = configmap({"k": "v"}, annotations={revision: "2", "note": "x"})
    assert field_changes(live, other) == [FieldChange("metadata.annotations.note", None, "x")]


def test_items_with_names_are_compared_by_them() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    live = workload(image="op:1", env=env, args=["x"])
    result = workload(image="op:2", env=[env[1]], args=["x", "y"])
    where = "spec.template.spec.containers[a]"
    assert field_changes(live, result) == [
        FieldChange(f"{where}.args", ["x"], ["x", "y"]),
        FieldChange(f"{where}.env[A]", env[0], None),
        FieldChange(f"{where}.image", "op:1", "op:2"),
    ]


def test_values_of_secrets_are_not_reported() -> None:
    old = configmap({"k": "secret"}) | {"kind": "Secret"}
    new = configmap({"k": "other", "n": "new"}) | {"kind": "Secret"}
    assert field_changes(old, new) == [
        FieldChange("data.k", "(not shown)", "(not shown)"),
        FieldChange("data.n", None, "(not shown)"),
    ]
    bare = {key: value for key, value in old.items() if key != "data"}
    assert field_changes(old, bare) == [FieldChange("data", "(not shown)", None)]


def test_certificates_that_are_filled_in_later_are_no_change() -> None:
    tls = {"kind": "Secret", "type": "kubernetes.io/tls"}
    live = (
        configmap({"tls.crt": "eA==", "tls.key": "eQ==", "ca.crt": "eg==", "next.key": "eg=="})
        | tls
    )
    assert field_changes(live, configmap({"tls.crt": "", "tls.key": ""}) | tls) == []
    brought = configmap({"tls.crt": "YQ==", "tls.key": "YQ=="}) | tls
    assert [change.path for change in field_changes(brought | live, brought)] == [
        "data.tls.crt",
        "data.tls.key",
    ]

    token = {"kind": "Secret", "type": "kubernetes.io/service-account-token"}
    issued = configmap({"token": "eA==", "ca.crt": "eQ==", "namespace": "eg=="}) | token
    assert field_changes(issued, configmap({"token": ""}) | token) == []
    assert field_changes(issued, {k: v for k, v in issued.items() if k != "data"}) == []
    opaque = {"kind": "Secret", "type": "Opaque"}
    assert field_changes(configmap({"k": "eA=="}) | opaque, configmap({}) | opaque)

    def hook(bundle: str | None, **notes: str) -> KubeObject:
        given = {"url": "https://x"} | ({"caBundle": bundle} if bundle else {})
        return {
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "h", "annotations": notes},
            "webhooks": [{"name": "w", "clientConfig": given}],
        }

    ours = {f"{MANAGER}/inject-ca-from-secret": "ns/s"}
    assert field_changes(hook("eA==", **ours), hook(None, **ours)) == []
    assert field_changes(hook("eA=="), hook(None)) == [
        FieldChange("webhooks[w].clientConfig.caBundle", "eA==", None)
    ]


POSTED: dict[str, Any] = {"f:data": {".": {}, "f:kept": {}, "f:gone": {}, "f:theirs": {}}}


def test_fields_that_only_our_first_write_set_go() -> None:
    applied = entry({"f:data": {"f:kept": {}}})
    theirs = entry({"f:data": {"f:theirs": {}}}, "Update", "kubectl-edit")
    result = configmap(
        {"kept": "1", "gone": "2", "theirs": "3", "foreign": "4"},
        managedFields=[entry(POSTED, "Update"), applied, theirs],
    )
    assert without_leftovers(result)["data"] == {"kept": "1", "theirs": "3", "foreign": "4"}
    assert result["data"]["gone"] == "2", "the object itself stays as it is"


def test_a_map_that_is_applied_no_more_goes_as_a_whole() -> None:
    result = configmap({"gone": "2"}, managedFields=[entry({"f:data": {"f:gone": {}}}, "Update")])
    assert "data" not in without_leftovers(result)


def test_what_another_owns_as_a_whole_stays() -> None:
    whole = entry({"f:data": {}}, "Update", "other")
    result = configmap({"gone": "2"}, managedFields=[entry(POSTED, "Update"), whole])
    assert without_leftovers(result)["data"] == {"gone": "2"}


def test_items_of_lists_go_by_key_and_by_value() -> None:
    posted = {
        "f:spec": {
            "f:ports": {'k:{"name":"a"}': {".": {}}, 'k:{"name":"b"}': {".": {}}},
            "f:names": {'v:"x"': {}, 'v:"y"': {}},
        }
    }
    applied = {"f:spec": {"f:ports": {'k:{"name":"b"}': {".": {}}}, "f:names": {'v:"y"': {}}}}
    result = {
        "kind": "Service",
        "metadata": {"managedFields": [entry(posted, "Update"), entry(applied)]},
        "spec": {"ports": [{"name": "a"}, {"name": "b"}], "names": ["x", "y"]},
    }
    assert without_leftovers(result)["spec"] == {"ports": [{"name": "b"}], "names": ["y"]}


@pytest.mark.parametrize("entries", [[], [entry(POSTED)], [entry(POSTED, "Update", "other")]])
def test_what_we_never_posted_is_left_alone(entries: list[Any]) -> None:
    result = configmap({"gone": "2"}, managedFields=entries)
    assert without_leftovers(result) is result


def test_images_are_those_of_containers_and_those_in_the_operators_variables() -> None:
    env = [{"name": "RELATED_IMAGE_DB", "value": "db:1"}, {"name": "IMAGE", "value": "no:1"}]
    assert images_of([workload(image="op:1", env=env), configmap({})]) == {
        "init:1",
        "op:1",
        "db:1",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unset"), ("a", '"a"'), ({"a": [1]}, '{"a":[1]}'), ("x" * 100, f'"{"x" * 78}…')],
)
def test_values_are_reported_in_a_line(value: Any, text: str) -> None:
    assert value_text(value) == text
