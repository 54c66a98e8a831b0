"""Accounts of an operator: there, its own, and with the rights that it asks for."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.csv.accounts import account_requirements
from olm_classic.csv.owner import Owner
from olm_classic.csv.permissions import account_objects
from olm_classic.csv.requirements import are_met

RULE = {"verbs": ["get", "list"], "apiGroups": ["apps"], "resources": ["deployments"]}
CLUSTER_RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]}


def permission(*rules: dict[str, Any], account: str = "sa") -> dict[str, Any]:
    return {"serviceAccountName": account, "rules": list(rules)}


def csv(namespaced: list[Any], clusterwide: list[Any] | None = None) -> KubeObject:
    spec = {"permissions": namespaced, "clusterPermissions": clusterwide or []}
    return {
        "metadata": {"name": "op.v1", "namespace": "ns"},
        "spec": {"install": {"strategy": "deployment", "spec": spec}},
    }


def account(*owners: str, kind: str = "ClusterServiceVersion") -> KubeObject:
    references = [{"kind": kind, "name": owner} for owner in owners]
    return {"metadata": {"name": "sa", "namespace": "ns", "ownerReferences": references}}


def granted(*permissions: dict[str, Any], cluster: bool = False) -> list[KubeObject]:
    owner = Owner("anybody", "ns", "")
    given = account_objects(owner, () if cluster else permissions, permissions if cluster else ())
    return [
        obj
        for each in given
        for obj in (
            *each.roles,
            *each.role_bindings,
            *each.cluster_roles,
            *each.cluster_role_bindings,
        )
    ]


@pytest.mark.parametrize(
    ("found", "rbac", "status", "message"),
    [
        (None, granted(permission(RULE)), "NotPresent", "Service account does not exist"),
        (account("op.v1"), granted(permission(RULE)), "Present", ""),
        (account(), granted(permission(RULE), cluster=True), "Present", ""),
        (account("x", kind="Thing"), granted(permission(RULE)), "Present", ""),
        (account("op.v0", "op.v1"), granted(permission(RULE)), "Present", ""),
        (
            account("op.v0"),
            granted(permission(RULE)),
            "PresentNotSatisfied",
            "Service account is owned by another ClusterServiceVersion",
        ),
        (
            account("op.v1"),
            granted(permission({**RULE, "verbs": ["get"]})),
            "PresentNotSatisfied",
            "Policy rule not satisfied for service account",
        ),
    ],
)
def test_an_account(
    found: KubeObject | None, rbac: list[KubeObject], status: str, message: str
) -> None:
    accounts = {} if found is None else {"sa": found}
    [requirement] = account_requirements(csv([permission(RULE)]), accounts, rbac)
    assert (requirement["status"], requirement["message"]) == (status, message)
    assert are_met([requirement]) == (status == "Present")


def test_rights_in_the_cluster_are_not_those_in_a_namespace() -> None:
    asked = csv([permission(RULE)], [permission(CLUSTER_RULE)])
    rbac = granted(permission(RULE), permission(CLUSTER_RULE))
    [requirement] = account_requirements(asked, {"sa": account()}, rbac)
    assert [(each["status"], each["message"]) for each in requirement["dependents"]] == [
        (
            "Satisfied",
            (
                'namespaced rule:{"verbs":["get","list"],"apiGroups":["apps"],'
                '"resources":["deployments"]}'
            ),
        ),
        ("NotSatisfied", 'cluster rule:{"verbs":["get"],"apiGroups":[""],"resources":["nodes"]}'),
    ]


def test_accounts_come_by_name() -> None:
    asked = csv([permission(RULE, account="b"), permission(RULE, account="a")])
    assert [each["name"] for each in account_requirements(asked, {}, [])] == ["a", "b"]
