"""The OperatorCondition of a ClusterServiceVersion, its role and its binding."""

from typing import Any

from olm_classic.operator_conditions.objects import (
    binding_of,
    condition_of,
    goes,
    has,
    patch_to,
    role_of,
)


def _csv(**strategy: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "etcd.v1", "namespace": "operators", "uid": "1"},
        "spec": {"install": {"strategy": "deployment", "spec": strategy}},
    }


def _created(csv: dict[str, Any]) -> dict[str, Any]:
    made = condition_of(csv)
    return {**made, "metadata": {**made["metadata"], "uid": "2", "resourceVersion": "7"}}


CSV = _csv(
    deployments=[{"name": "one"}, {"name": "two"}],
    permissions=[{"serviceAccountName": "a"}, {"serviceAccountName": "b"}],
    clusterPermissions=[{"serviceAccountName": "b"}],
)


def test_accounts_of_the_cluster_come_first_and_as_often_as_they_are_named() -> None:
    made = condition_of(CSV)
    assert made["apiVersion"] == "operators.coreos.com/v2"
    assert made["spec"] == {"serviceAccounts": ["b", "a", "b"], "deployments": ["one", "two"]}
    [owner] = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == (
        "ClusterServiceVersion",
        "1",
        True,
    )


def test_an_operator_without_permissions_runs_as_default() -> None:
    assert condition_of(_csv())["spec"] == {"serviceAccounts": ["default"], "deployments": []}


def test_what_is_so_already_and_what_users_say_is_not_written() -> None:
    condition = _created(CSV)
    condition["spec"] |= {"conditions": [{"type": "Upgradeable"}], "overrides": [{"type": "x"}]}
    assert patch_to(CSV, condition) == {}
    other = {**CSV, "metadata": {**CSV["metadata"], "uid": "9"}}
    patch = patch_to(other, condition)
    assert set(patch) == {"metadata"}
    assert [each["uid"] for each in patch["metadata"]["ownerReferences"]] == ["9"]
    condition["spec"]["deployments"] = []
    assert patch_to(CSV, condition) == {
        "metadata": {"resourceVersion": "7"},
        "spec": {"deployments": ["one", "two"]},
    }


def test_accounts_may_read_and_write_their_own_condition_and_no_status() -> None:
    condition = _created(CSV)
    role, binding = role_of(condition), binding_of(condition)
    assert role["rules"] == [
        {
            "apiGroups": ["operators.coreos.com"],
            "resources": ["operatorconditions"],
            "resourceNames": ["etcd.v1"],
            "verbs": ["get", "update", "patch"],
        }
    ]
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == "etcd.v1"
    assert [each["name"] for each in binding["subjects"]] == ["b", "a", "b"]
    assert not any("namespace" in each for each in binding["subjects"])
    assert role["metadata"]["labels"] == {"olm.managed": "true"}
    assert role["metadata"]["ownerReferences"][0]["kind"] == "OperatorCondition"


def test_a_role_that_somebody_changed_is_not_as_wanted() -> None:
    role = role_of(_created(CSV))
    more = {**role["metadata"], "labels": {"olm.managed": "true", "more": "x"}}
    assert has({**role, "metadata": more}, role)
    assert not has({**role, "rules": []}, role)
    assert not has({**role, "metadata": {**role["metadata"], "labels": {}}}, role)
    assert not has({**role, "metadata": {**role["metadata"], "ownerReferences": []}}, role)
    nobody = binding_of({**_created(CSV), "spec": {}})
    assert has({key: value for key, value in nobody.items() if key != "subjects"}, nobody)


def test_one_goes_with_its_version_and_one_that_somebody_made_stays() -> None:
    csv = _csv()
    created, gone = _created(csv), {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert not goes(created, csv)
    assert goes(created, None)
    assert goes(created, {**csv, "metadata": {**csv["metadata"], **gone}})
    assert goes({**created, "metadata": {**created["metadata"], **gone}}, csv)
    assert not goes({"metadata": {"name": "by-hand", "namespace": "ns"}}, None)
