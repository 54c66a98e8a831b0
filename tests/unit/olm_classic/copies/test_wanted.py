"""What copies have to be."""

from typing import Any

from olm_classic.copies.wanted import Wanted

CSV: dict[str, Any] = {
    "metadata": {
        "name": "etcd.v1",
        "namespace": "operators",
        "labels": {"team": "db"},
        "annotations": {"olm.targetNamespaces": "", "olm.operatorNamespace": "operators"},
    },
    "spec": {"displayName": "etcd"},
    "status": {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "installed"},
}


def _with(**changed: Any) -> Wanted:
    return Wanted.of({**CSV, **changed})


def test_hashes_tell_the_status_from_the_rest() -> None:
    wanted = Wanted.of(CSV)
    assert wanted.hashes == Wanted.of(CSV).hashes
    failed = _with(status={"phase": "Failed"}).hashes
    assert (failed.rest == wanted.hashes.rest, failed.status == wanted.hashes.status) == (
        True,
        False,
    )
    renamed = _with(spec={"displayName": "Etcd"}).hashes
    assert (renamed.rest == wanted.hashes.rest, renamed.status == wanted.hashes.status) == (
        False,
        True,
    )


def test_where_an_operator_works_and_why_it_is_in_its_phase_changes_no_copy() -> None:
    meta = {**CSV["metadata"], "annotations": {"olm.operatorNamespace": "operators"}}
    again = {"phase": "Succeeded", "reason": "Other", "message": "other"}
    assert _with(metadata=meta, status=again).hashes == Wanted.of(CSV).hashes


def test_a_copy_that_was_made_as_asked_is_as_wanted() -> None:
    wanted = Wanted.of(CSV)
    new = wanted.new("a")
    assert new["metadata"]["namespace"] == "a"
    assert "status" not in new
    assert wanted.has_rest(new)
    assert not wanted.has_status(new)
    assert wanted.has_status({**new, "status": wanted.status_patch("1")[1]["value"]})
    assert not wanted.has_rest({**new, "spec": {}})
    labels = {**new["metadata"]["labels"], "more": "x"}
    assert not wanted.has_rest({**new, "metadata": {**new["metadata"], "labels": labels}})


def test_every_write_is_of_one_version() -> None:
    wanted = Wanted.of(CSV)
    at = {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert wanted.status_patch("7")[0] == at
    assert wanted.rest_patch("7", owned=False)[0] == at
    assert wanted.status_hash_patch("7")["metadata"]["resourceVersion"] == "7"


def test_every_field_of_a_copy_that_was_touched_is_owned_again() -> None:
    patch = {each["path"]: each["value"] for each in Wanted.of(CSV).rest_patch("7", owned=True)}
    rest, status = patch["/metadata/managedFields"]
    assert rest["fieldsV1"]["f:spec"] == {".": {}, "f:displayName": {}}
    assert "f:team" in rest["fieldsV1"]["f:metadata"]["f:labels"]
    assert status["subresource"] == "status"
    assert set(status["fieldsV1"]["f:status"]) == {".", "f:phase", "f:reason", "f:message"}
