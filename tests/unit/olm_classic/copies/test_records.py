"""What is remembered of a copy."""

from typing import Any

import pytest

from olm_classic.copies.records import Hashes, Record, digest, origins, trimmed

OURS = "olm-operator-copies"


def _entry(manager: str = OURS, fields: Any = None, **more: Any) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "fieldsV1": fields or {}, **more}


SPEC = _entry(fields={"f:spec": {"f:displayName": {}}}, time="2026-01-01T00:00:00Z")
STATUS = _entry(fields={"f:status": {"f:phase": {}}}, subresource="status")


def _copy(*managed: Any, **meta: Any) -> dict[str, Any]:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": "etcd.v1",
            "namespace": "a",
            "uid": "1",
            "resourceVersion": "7",
            "annotations": {
                "alm-examples": "x" * 10_000,
                "olm.operatorNamespace": "operators",
                "olm.operatorframework.io/nonStatusCopyHash": "rest",
                "olm.operatorframework.io/statusCopyHash": "status",
            },
            "labels": {"team": "db", "olm.copiedFrom": "operators"},
            "managedFields": list(managed),
            **meta,
        },
    }


def test_little_is_cached_and_it_says_as_much_as_the_whole() -> None:
    short = trimmed(_copy(SPEC, STATUS))
    assert len(str(short)) < 1000
    assert trimmed(short) is short
    assert Record.of(short) == Record.of(_copy(SPEC, STATUS))
    record = Record.of(short)
    assert (record.origin, record.label) == ("operators", "operators")
    assert record.hashes == Hashes("rest", "status")
    assert not record.foreign
    assert not record.deleting


def test_a_copy_with_nothing_is_nobodys() -> None:
    record = Record.of(trimmed({"metadata": {"name": "x", "namespace": "a"}}))
    assert (record.origin, record.label, record.hashes) == ("", "", Hashes("", ""))


@pytest.mark.parametrize(
    ("fields", "foreign"),
    [
        ({"f:spec": {"f:displayName": {}}}, True),
        ({"f:status": {"f:phase": {}}}, True),
        ({"f:metadata": {"f:labels": {"f:team": {}}}}, True),
        ({"f:metadata": {"f:annotations": {"f:team": {}}}}, True),
        ({"f:metadata": {"f:finalizers": {}}}, False),
        ({}, False),
    ],
)
def test_what_somebody_else_wrote_is_seen(fields: Any, foreign: bool) -> None:
    assert Record.of(_copy(SPEC, _entry("kubectl-edit", fields))).foreign is foreign


def test_a_field_that_was_removed_and_a_status_that_was_not_written_are_seen() -> None:
    def fields(*managed: Any) -> str:
        return Record.of(_copy(*managed)).fields

    whole = fields(SPEC, STATUS)
    assert fields(SPEC) != whole
    assert fields(_entry(fields={"f:spec": {}}), STATUS) != whole
    assert fields({**SPEC, "time": "2027-01-01T00:00:00Z"}, STATUS) == whole
    assert fields(STATUS, SPEC) == whole


def test_an_origin_is_what_the_annotation_says_and_what_the_label_says() -> None:
    assert origins(_copy()) == ["operators"]
    assert origins(_copy(annotations={"olm.operatorNamespace": "x"})) == ["x", "operators"]
    assert origins(_copy(annotations={}, labels={})) == []


def test_the_order_of_fields_is_none_of_a_digest() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})
