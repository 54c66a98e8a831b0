"""The least rights: enough, nothing to spare, and said what for."""

from dataclasses import dataclass
from typing import Any

import pytest

from api.objects import KubeObject
from olm_content.rights import (
    NeededRule,
    Permission,
    Purpose,
    Reason,
    as_rules,
    beyond,
    least,
    least_while_replacing,
    policy_rule,
    rules_of,
)
from olm_content.rights.merge import without_implied
from olm_content.rights.rules import uncovered
from tests.unit.olm_content.rights.least_rights import account_for, assert_least, needs_for

RBAC = "rbac.authorization.k8s.io"


def obj(api: str, kind: str, name: str, namespace: str = "", **fields: Any) -> KubeObject:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def rule(verbs: str, group: str, resources: str, names: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {
        "apiGroups": [group],
        "resources": resources.split(),
        "verbs": verbs.split(),
    }
    return found | ({"resourceNames": names.split()} if names else {})


def urls(verbs: str, paths: str) -> dict[str, Any]:
    return {"nonResourceURLs": paths.split(), "verbs": verbs.split()}


def role(name: str, *rules: dict[str, Any], namespace: str = "", **more: Any) -> KubeObject:
    kind = "Role" if namespace else "ClusterRole"
    return obj(f"{RBAC}/v1", kind, name, namespace, rules=list(rules), **more)


def binding(name: str, kind: str, referred: str, namespace: str = "") -> KubeObject:
    reference = {"apiGroup": RBAC, "kind": kind, "name": referred}
    own = "RoleBinding" if namespace else "ClusterRoleBinding"
    return obj(f"{RBAC}/v1", own, name, namespace, roleRef=reference)


def bound(name: str, *rules: dict[str, Any], **more: Any) -> list[KubeObject]:
    return [role(name, *rules, **more), binding(name, "ClusterRole", name)]


DEPLOYMENT = obj("apps/v1", "Deployment", "operator", "ns")
CONFIG = obj("v1", "ConfigMap", "settings", "ns")
PODS = rule("get list", "", "pods")
AGGREGATED = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
FINALIZERS = rule("update", "olm.operatorframework.io", "clusterextensions/finalizers", "ext")


@dataclass(frozen=True, slots=True)
class Case:
    """Objects, and rules that their installer has, next to those for the objects themselves."""

    objects: list[KubeObject]
    handed_out: list[dict[str, Any]]


CASES = {
    "no objects": Case([], []),
    "objects that hand out nothing": Case([DEPLOYMENT, CONFIG], []),
    "a role": Case([role("a", PODS)], [PODS]),
    "a role and its binding": Case(bound("a", PODS), [PODS]),
    "two roles, one within the other": Case(
        [role("a", PODS), role("b", rule("get", "", "pods", "x"))], [PODS]
    ),
    "any verb brings the others": Case(
        [role("a", PODS), role("b", rule("*", "", "pods"))], [rule("*", "", "pods")]
    ),
    "any resource with a subresource": Case(
        [role("a", rule("get", "", "pods/status")), role("b", rule("get", "", "*/status"))],
        [rule("get", "", "*/status")],
    ),
    "what an object needs comes with what is handed out": Case(
        [DEPLOYMENT, role("a", rule("get", "apps", "deployments"))],
        [rule("get", "apps", "deployments")],
    ),
    "urls": Case(
        bound("a", urls("get", "/metrics /metrics/*")), [urls("get", "/metrics /metrics/*")]
    ),
    "urls that cover each other": Case([role("a", urls("get", "/a* /a**"))], [urls("get", "/a*")]),
    "urls of a role that counts in a namespace only": Case(
        [role("a", urls("get", "/x")), binding("a", "ClusterRole", "a", "ns")],
        [urls("get", "/x")],
    ),
    "a role in a namespace": Case(
        [role("a", PODS, namespace="ns"), binding("a", "Role", "a", "ns")], [PODS]
    ),
    "a role that hands out escalate": Case(
        [role("a", PODS, rule("escalate", RBAC, "clusterroles"))],
        [rule("escalate", RBAC, "clusterroles")],
    ),
    "escalate does not help to bind": Case(
        bound("a", PODS, rule("escalate", RBAC, "clusterroles")),
        [PODS, rule("escalate", RBAC, "clusterroles")],
    ),
    "a role that hands out everything": Case(
        bound("a", rule("*", "*", "*"), urls("*", "*")),
        [rule("escalate", RBAC, "clusterroles"), rule("bind", RBAC, "clusterroles", "a")],
    ),
    "an aggregated role": Case(
        bound("a", **AGGREGATED),
        [rule("escalate", RBAC, "clusterroles"), rule("bind", RBAC, "clusterroles", "a")],
    ),
    "escalate in another namespace": Case(
        [
            role("a", rule("escalate", RBAC, "roles"), namespace="ns"),
            role("b", PODS, namespace="other"),
        ],
        [rule("escalate", RBAC, "roles"), PODS],
    ),
    "a role of the cluster": Case(
        [binding("b", "ClusterRole", "view")], [rule("bind", RBAC, "clusterroles", "view")]
    ),
    "a role of another namespace": Case(
        [binding("b", "Role", "reader", "kube-system")], [rule("bind", RBAC, "roles", "reader")]
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_enough_and_nothing_to_spare(case: Case) -> None:
    assert_least(needs_for(case.objects))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_handed_out(case: Case) -> None:
    purposes = {Purpose.HAND_OUT, Purpose.HAND_OUT_UNHELD}
    needed = least(needs_for(case.objects))
    found = {
        permission._replace(namespace="")
        for permission, reasons in needed.items()
        if purposes & {reason.purpose for reason in reasons}
    }
    wanted = {p for r in rules_of(case.handed_out) for p in uncovered("", r, ())}
    assert found == wanted


def test_create_list_and_watch_carry_no_names() -> None:
    assert _rules(DEPLOYMENT, CONFIG) == [
        (FINALIZERS, {("ClusterExtension", "ext")}),
        (rule("create list watch", "", "configmaps"), {("ConfigMap", "settings")}),
        (
            rule("delete get patch update", "", "configmaps", "settings"),
            {("ConfigMap", "settings")},
        ),
        (rule("create list watch", "apps", "deployments"), {("Deployment", "operator")}),
        (
            rule("delete get patch update", "apps", "deployments", "operator"),
            {("Deployment", "operator")},
        ),
    ]


def test_a_rule_names_everything_that_comes_with_it() -> None:
    found = _rules(DEPLOYMENT, role("a", rule("*", "apps", "deployments")))
    assert (
        rule("*", "apps", "deployments"),
        {("Deployment", "operator"), ("ClusterRole", "a")},
    ) in found


def _rules(*objects: KubeObject) -> list[tuple[dict[str, Any], set[tuple[str, str]]]]:
    return [
        (policy_rule(needed.rule), {(r.kind, r.name) for r in needed.reasons})
        for needed in as_rules(least(needs_for(objects)))
    ]


def test_the_account_as_objects() -> None:
    objects = [document.obj for document in account_for(needs_for([DEPLOYMENT]))]
    named = [(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects]
    assert named == [
        ("Namespace", None, "ns"),
        ("ServiceAccount", "ns", "ext-installer"),
        ("ClusterRole", None, "ext-installer"),
        ("ClusterRoleBinding", None, "ext-installer"),
        ("Role", "ns", "ext-installer"),
        ("RoleBinding", "ns", "ext-installer"),
    ]
    assert objects[2]["rules"] == [FINALIZERS]
    assert objects[5]["roleRef"] == {"apiGroup": RBAC, "kind": "Role", "name": "ext-installer"}
    subject = {"kind": "ServiceAccount", "name": "ext-installer", "namespace": "ns"}
    assert objects[3]["subjects"] == objects[5]["subjects"] == [subject]


def test_an_update_needs_the_old_rights_until_the_old_objects_are_gone() -> None:
    old, new = least(needs_for([CONFIG, DEPLOYMENT])), least(needs_for([DEPLOYMENT]))
    assert beyond(new, old) == {}
    gone = {p for p in old if p.resource == "configmaps"}
    assert beyond(old, new).keys() == gone
    both = least_while_replacing(old, new)
    assert both.keys() == old.keys()
    for permission in gone:
        assert both[permission] == {Reason(Purpose.REPLACE, "ConfigMap", "settings")}


def test_wider_rights_of_the_new_version_replace_narrower_ones_of_the_old() -> None:
    old = least(needs_for([role("a", rule("get", "", "pods", "x"))]))
    new = least(needs_for([role("a", rule("get", "", "pods"))]))
    assert Permission("", "get", "", "pods", "x") not in least_while_replacing(old, new)
    assert Permission("", "get", "", "pods") in beyond(new, old)
    assert beyond(old, new) == {}


def test_one_of_what_covers_each_other_stays() -> None:
    pair = {Permission("", "get", url="/a*"), Permission("", "get", url="/a**")}
    assert len(without_implied(pair)) == 1


def test_rules_are_the_permissions_and_no_others() -> None:
    needed = least(needs_for([DEPLOYMENT, *bound("a", PODS, rule("get", "apps", "x y", "n"))]))
    rules: list[NeededRule] = as_rules(needed)
    listed = [p for rule in rules for p in rule.rule.permissions()]
    assert len(listed) == len(set(listed))
    assert set(listed) == needed.keys()
