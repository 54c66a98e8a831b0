"""What is added to objects, and when they count as changed."""

import copy
from typing import Any

import pytest

from api.objects import KubeObject, metadata
from olm_rollout.adoption import Situation, situation_of
from olm_rollout.owned import field_migration, fingerprint, needs_migration, owned, sighting
from tests.unit.olm_rollout.values import API_VERSION, APPLIER, GROUP, KIND, owner

OWNER = owner(revision=4)


def entry(manager: str = GROUP, operation: str = "Apply", **fields: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "v1",
        "time": "2025-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields or {"f:data": {"f:a": {}}},
    }


def live(*entries: dict[str, Any], **meta: Any) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "x",
            "namespace": "ns",
            "uid": "uid-x",
            "resourceVersion": "7",
            "ownerReferences": list(OWNER.references),
            "managedFields": list(entries or (entry(),)),
            **meta,
        },
        "data": {"a": "1"},
    }


def test_an_object_gets_labels_annotation_and_reference_and_keeps_its_own() -> None:
    obj = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "labels": {"app": "a"}, "annotations": {"note": "n"}},
        "data": {"a": "1"},
    }
    before = copy.deepcopy(obj)
    assert owned(obj, OWNER) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "x",
            "labels": {
                "app": "a",
                f"{GROUP}/owner-kind": KIND,
                f"{GROUP}/owner-name": "mine",
                "app.kubernetes.io/managed-by": GROUP,
            },
            "annotations": {"note": "n", f"{GROUP}/revision": "4"},
            "ownerReferences": [
                {
                    "apiVersion": API_VERSION,
                    "kind": KIND,
                    "name": "mine",
                    "uid": "uid-mine",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "data": {"a": "1"},
    }
    assert obj == before


TAKEN = {**entry(), "fieldsV1": {"f:data": {}}}
USER = entry("kubectl-edit", "Update", **{"f:data": {"f:b": {}}})
STATUS = {**entry("manager", "Update", **{"f:status": {}}), "subresource": "status"}

OUR_STATUS = {**STATUS, "manager": GROUP}


@pytest.mark.parametrize(
    ("changed", "noticed"),
    [
        pytest.param(live(resourceVersion="8"), False, id="a new version alone"),
        pytest.param(live(generation=2), False, id="a new generation alone"),
        pytest.param(live(labels={"team": "red"}), False, id="a label of a user"),
        pytest.param(live(annotations={"note": "n"}), False, id="an annotation of a controller"),
        pytest.param(live(entry(), USER), False, id="a field that somebody added"),
        pytest.param(live(entry(), STATUS), False, id="a status"),
        pytest.param(live(entry(), OUR_STATUS), False, id="a status that is our own"),
        pytest.param(
            live({**entry(), "time": "2026-01-01T00:00:00Z"}), False, id="the time of a write"
        ),
        pytest.param(live(TAKEN), True, id="a field of ours that is theirs now"),
        pytest.param(live(USER), True, id="none of our fields is left"),
        pytest.param(live(uid="uid-y"), True, id="another object of the name"),
        pytest.param(live(deletionTimestamp="2026"), True, id="an object that is being deleted"),
    ],
)
def test_what_counts_as_a_change(changed: KubeObject, *, noticed: bool) -> None:
    assert (fingerprint(changed, APPLIER) != fingerprint(live(), APPLIER)) is noticed


@pytest.mark.parametrize(
    ("change", "noticed"),
    [
        pytest.param({"generation": 2}, True, id="a new generation"),
        pytest.param({"generation": 1, "resourceVersion": "8"}, False, id="only a new version"),
    ],
)
def test_a_server_without_notes_is_judged_by_generation(
    change: dict[str, Any], *, noticed: bool
) -> None:
    before = live(generation=1, managedFields=[])
    after = live(**{"managedFields": [], "generation": 1, **change})
    assert (fingerprint(before, APPLIER) != fingerprint(after, APPLIER)) is noticed


def test_a_sighting_is_small_and_decides_alike() -> None:
    bulk = {"kubectl.kubernetes.io/last-applied-configuration": "x" * 100_000}
    notes = {**bulk, f"{GROUP}/revision": "4"}
    whole = live(entry(operation="Update"), USER, annotations=notes)
    seen = sighting(whole, APPLIER)
    assert seen.fingerprint == fingerprint(whole, APPLIER)
    assert len(repr(seen.live)) < 1000
    assert situation_of(seen.live, OWNER) is situation_of(whole, OWNER) is Situation.OURS
    assert needs_migration(seen.live, APPLIER)
    assert metadata(seen.live)["resourceVersion"] == "7"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param([entry()], None, id="applied fields need nothing"),
        pytest.param([USER], None, id="the fields of others are theirs"),
        pytest.param(
            [USER, entry(operation="Update")], [USER, entry()], id="posted fields become applied"
        ),
        pytest.param(
            [entry(operation="Update"), entry()],
            [entry()],
            id="posted fields next to applied ones go",
        ),
        pytest.param(
            [{**entry(operation="Update"), "subresource": "status"}],
            None,
            id="a status is not a field of ours",
        ),
    ],
)
def test_field_migration(
    entries: list[dict[str, Any]], expected: list[dict[str, Any]] | None
) -> None:
    found = live(*entries)
    assert needs_migration(found, APPLIER) is (expected is not None)
    if expected is None:
        assert field_migration(found, APPLIER) is None
    else:
        assert field_migration(found, APPLIER) == [
            {"op": "test", "path": "/metadata/uid", "value": "uid-x"},
            {"op": "replace", "path": "/metadata/managedFields", "value": expected},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        ]


FORMER = entry("predecessor", "Update", **{"f:data": {"f:a": {}, "f:b": {}}})


def migrated(found: KubeObject) -> list[dict[str, Any]]:
    patch = field_migration(found, APPLIER, inherited=True)
    assert patch is not None
    entries: list[dict[str, Any]] = patch[1]["value"]
    return entries


def test_fields_that_the_former_manager_set_become_applied() -> None:
    assert migrated(live(USER, FORMER)) == [
        USER,
        {**FORMER, "manager": GROUP, "operation": "Apply"},
    ]
    assert field_migration(live(USER, FORMER), APPLIER) is None, (
        "another program may be called like it"
    )


def test_what_only_the_former_set_is_added_to_what_was_applied() -> None:
    both: dict[str, Any] = {"f:data": {"f:a": {}, "f:b": {}}}
    assert migrated(live(FORMER, entry(), USER)) == [{**entry(), "fieldsV1": both}, USER]
    status = {**FORMER, "subresource": "status"}
    assert field_migration(live(entry(), status), APPLIER, inherited=True) is None
