"""Where an operator is to have its rights, and the objects that give them."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.csv.target_rights import (
    Place,
    are_granted,
    asked_by,
    cluster_wide,
    in_namespace_of,
)
from olm_content.rights.authority import Authority
from olm_content.rights.rules import rules_of

RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
PERMISSION = {"serviceAccountName": "sa", "rules": [RULE]}
LABELS = {"olm.owner": "op.v1", "olm.owner.namespace": "ns", "olm.permissions.hash": "h"}
ROLE: KubeObject = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "op.v1-sa-x", "namespace": "ns", "labels": LABELS, "uid": "r"},
    "rules": [RULE],
}
SUBJECTS = [{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}]
BINDING: KubeObject = {
    **ROLE,
    "kind": "RoleBinding",
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "op.v1-sa-x"},
    "subjects": SUBJECTS,
}
COPY: KubeObject = {"metadata": {"name": "op.v1", "namespace": "team", "uid": "c"}}


def csv(targets: str | None, *modes: str, phase: str = "Succeeded", reason: str = "") -> KubeObject:
    annotations = {} if targets is None else {"olm.targetNamespaces": targets}
    supported = [{"type": mode, "supported": True} for mode in modes]
    return {
        "metadata": {"name": "op.v1", "namespace": "ns", "annotations": annotations},
        "spec": {"installModes": supported, "install": {"spec": {"permissions": [PERMISSION]}}},
        "status": {"phase": phase, "reason": reason},
    }


ALL = "AllNamespaces"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (csv("", ALL), Place.EVERYWHERE),
        (csv("a,b", "MultiNamespace"), Place.TARGETS),
        (csv("a", "SingleNamespace", phase="Failed", reason="RequirementsNotMet"), Place.TARGETS),
        (csv(None, ALL), Place.UNKNOWN),
        (csv("", ALL, phase=""), Place.UNKNOWN),
        (csv("", "OwnNamespace"), Place.UNKNOWN),
        (csv("", ALL, phase="Failed", reason="TooManyOperatorGroups"), Place.UNKNOWN),
        (csv("", ALL, phase="Failed", reason="InterOperatorGroupOwnerConflict"), Place.NOWHERE),
    ],
)
def test_members_of_a_group_have_rights_where_it_selects(given: KubeObject, place: Place) -> None:
    asked = asked_by(given)
    assert asked.place is place
    assert asked.accounts == {"sa"}


def test_rights_count_for_the_whole_cluster_or_in_a_namespace() -> None:
    rules = tuple(rules_of([RULE]))
    here = {"sa": Authority(namespaces={"team": rules})}
    assert are_granted([PERMISSION], here, "team")
    assert not are_granted([PERMISSION], here, "")
    assert not are_granted([PERMISSION], here, "other")
    assert are_granted([PERMISSION], {"sa": Authority(cluster=rules)}, "")
    assert are_granted([], {}, "")


def test_for_all_namespaces_roles_become_cluster_roles() -> None:
    role, binding = cluster_wide(ROLE), cluster_wide(BINDING)
    assert role["kind"] == "ClusterRole"
    assert role["metadata"] == {"name": "op.v1-sa-x", "labels": LABELS}
    watch = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}
    assert role["rules"] == [RULE, watch]
    assert binding["kind"] == "ClusterRoleBinding"
    assert (binding["roleRef"]["kind"], binding["subjects"]) == ("ClusterRole", SUBJECTS)


@pytest.mark.parametrize("obj", [ROLE, BINDING])
def test_next_to_a_copy_they_are_its_own(obj: dict[str, Any]) -> None:
    made = in_namespace_of(COPY, obj)
    assert made["metadata"]["namespace"] == "team"
    assert made["metadata"]["labels"] == {
        **LABELS,
        "olm.owner.kind": "ClusterServiceVersion",
        "olm.owner.namespace": "team",
        "olm.copiedFrom": "ns",
        "olm.managed": "true",
    }
    [owner] = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("ClusterServiceVersion", "c")
    content = ("rules",) if obj["kind"] == "Role" else ("roleRef", "subjects")
    assert all(made[key] == obj[key] for key in content)
