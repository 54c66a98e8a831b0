"""Accounts, roles and bindings of a ClusterServiceVersion."""

from typing import Any

from olm_classic.csv.owner import Owner
from olm_classic.csv.permissions import account_objects

OWNER = Owner("op.v1", "ns", "uid")


def permission(account: str) -> dict[str, Any]:
    return {"serviceAccountName": account, "rules": [{"verbs": ["get"], "resources": ["pods"]}]}


def test_accounts_are_in_the_order_of_names_and_of_a_namespace_if_their_rights_are() -> None:
    made = account_objects(OWNER, [permission("b")], [permission("a"), permission("b")])
    accounts = [account.service_account["metadata"] for account in made]
    assert [(a["name"], a.get("namespace")) for a in accounts] == [("a", None), ("b", "ns")]
    assert [len(a.roles) for a in made] == [0, 1]
    assert [len(a.cluster_roles) for a in made] == [1, 1]


def test_bindings_bind_the_account_to_the_role_of_their_name() -> None:
    [account] = account_objects(OWNER, [permission("a")], [permission("a")])
    for roles, bindings in (
        (account.roles, account.role_bindings),
        (account.cluster_roles, account.cluster_role_bindings),
    ):
        [role], [binding] = roles, bindings
        assert binding["metadata"]["name"] == role["metadata"]["name"]
        assert binding["roleRef"]["name"] == role["metadata"]["name"]
        assert binding["roleRef"]["kind"] == role["kind"]
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "a", "namespace": "ns"}]


def test_a_role_is_the_same_however_its_rules_are_written() -> None:
    plain = permission("a")
    rule = {"resources": ["pods"], "apiGroups": [], "verbs": ["get"]}
    other = {"rules": [rule], "serviceAccountName": "a"}
    assert account_objects(OWNER, [plain], []) == account_objects(OWNER, [other], [])


def test_only_namespaced_objects_are_owned_by_reference() -> None:
    [account] = account_objects(OWNER, [permission("a")], [permission("a")])
    for owned in (*account.roles, *account.role_bindings, account.service_account):
        assert owned["metadata"]["ownerReferences"] == [OWNER.reference()]
    for found in (*account.cluster_roles, *account.cluster_role_bindings):
        assert "ownerReferences" not in found["metadata"]
        assert found["metadata"]["labels"]["olm.owner"] == "op.v1"


def test_names_are_at_most_as_long_as_labels() -> None:
    long = Owner("o" * 80, "ns", "uid")
    [account] = account_objects(long, [permission("a")], [permission("a")])
    for made in (*account.roles, *account.cluster_roles):
        assert len(made["metadata"]["name"]) == 63
