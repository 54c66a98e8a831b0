"""What a deletion takes along and what holds it up, as text and as data."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_client.lifecycle.account_removal import AccountRemoval
from olm_client.lifecycle.instances import NAMED, Instances
from olm_client.lifecycle.removal import (
    Removal,
    facts,
    lines,
    next_to_delete,
    obstacles,
    remains,
)


def obj(kind: str, name: str, namespace: str = "", *finalizers: str) -> KubeObject:
    meta: dict[str, Any] = {"name": name}
    meta |= {"namespace": namespace} if namespace else {}
    meta |= {"finalizers": list(finalizers)} if finalizers else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta}


def extension(account: str = "sa", *finalizers: str) -> KubeObject:
    spec = {"namespace": "ns"} | ({"serviceAccount": {"name": account}} if account else {})
    return {**obj("ClusterExtension", "ext", "", *finalizers), "spec": spec}


OURS = "olm.operatorframework.io/teardown"
THINGS = GVK("example.com", "v1", "Thing")


def things(*held: str, free: int = 0) -> Instances:
    stuck = [obj("Thing", name, "apps", "example.com/clean") for name in held]
    return Instances("things.example.com", THINGS, stuck + [obj("Thing", "free")] * free)


def test_what_goes_with_what_is_said() -> None:
    removal = Removal(
        extension("sa", OURS),
        account_exists=True,
        deleted=[obj("Deployment", "d", "ns"), obj("CustomResourceDefinition", "things")],
        retained=[obj("ConfigMap", "c", "ns")],
        unknown=[(obj("Secret", "s", "ns"), "forbidden")],
        instances=[things(free=NAMED + 2)],
    )
    assert [*lines(removal)] == [
        "would be deleted, 2 objects:",
        "  Deployment ns/d",
        "  CustomResourceDefinition things",
        "with things.example.com all 7 Thing objects: free, free, free, free, free and 2 more",
        "somebody else's by now, would stay:",
        "  ConfigMap ns/c",
        "Secret ns/s: not known: forbidden",
    ]
    reported = facts(removal)
    assert reported["customResources"][0]["count"] == NAMED + 2
    assert reported["unknown"][0]["message"] == "forbidden"
    assert reported["obstacles"] == []


def test_custom_resources_whose_operator_goes_first_are_in_the_way() -> None:
    [found] = obstacles(Removal(extension(), True, instances=[things("a", "b", free=1)]))
    assert found.message.startswith("2 Thing objects have finalizers (example.com/clean)")
    assert found.hint.startswith("--cascade deletes custom resources first")


def test_finalizers_of_others_are_in_the_way_and_those_of_kubernetes_are_not() -> None:
    own = obj("PersistentVolumeClaim", "p", "ns", "kubernetes.io/pvc-protection")
    other = obj("ConfigMap", "c", "ns", "example.com/keep")
    found = obstacles(
        Removal(extension("sa", OURS, "example.com/keep"), True, deleted=[own, other])
    )
    assert [each.message.partition(" has ")[0] for each in found] == [
        "ConfigMap ns/c",
        "ClusterExtension ext",
    ]


def test_without_its_account_there_is_no_order() -> None:
    [found] = obstacles(Removal(extension(), account_exists=False))
    assert found.message.startswith("service account ns/sa is not there")
    assert obstacles(Removal(extension(account=""), account_exists=False)) == []


def test_what_is_not_known_is_said() -> None:
    removal = Removal(extension(), True, fault="may not read Secrets")
    assert [*lines(removal)] == ["what would be deleted is not known: may not read Secrets"]
    assert facts(removal)["objectsUnknown"] == "may not read Secrets"
    unseen = Instances("things.example.com", THINGS, fault="forbidden")
    reported = [*lines(Removal(extension(), True, instances=[unseen]))]
    assert reported[-1].endswith("all Thing objects; they cannot be counted: forbidden")


def test_commands_remove_what_an_install_wrote() -> None:
    assert remains(Removal(extension(), True)) == []
    written = [obj("ClusterRole", "sa"), obj("Role", "sa", "ns"), obj("Namespace", "ns")]
    removal = Removal(extension(), True, after=AccountRemoval(written))
    assert remains(removal) == [
        "kubectl delete clusterrole sa",
        "kubectl delete role sa --namespace ns",
        "kubectl delete namespace ns",
    ]
    assert [each["kind"] for each in facts(removal)["account"]["deleted"]] == [
        *("ClusterRole", "Role", "Namespace"),
    ]


def custom_resource(name: str, *owners: str, deleting: bool = False) -> KubeObject:
    references = [{"uid": owner} for owner in owners]
    meta: dict[str, Any] = {"name": name, "uid": name, "ownerReferences": references}
    meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta}


@pytest.mark.parametrize(
    ("objects", "chosen"),
    [
        ([("a",), ("b",)], "ab"),
        ([("a",), ("b", "a"), ("c", "b")], "a"),
        ([("b", "gone"), ("c", "b")], "b"),
        ([("a", "b"), ("b", "a")], "ab"),
        ([], ""),
    ],
    ids=["free", "owners first", "orphans", "a circle", "none"],
)
def test_owners_are_deleted_before_what_they_own(
    objects: list[tuple[str, ...]], chosen: str
) -> None:
    found = next_to_delete([custom_resource(*each) for each in objects])
    assert "".join(each["metadata"]["name"] for each in found) == chosen


def test_what_is_being_deleted_is_waited_for() -> None:
    owner = custom_resource("a", deleting=True)
    assert next_to_delete([owner, custom_resource("b", "a")]) == []
