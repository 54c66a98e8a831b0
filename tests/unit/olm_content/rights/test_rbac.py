"""What is needed, what is held, what is said; what the API server does is tested against it."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_content.rights import (
    Account,
    Authority,
    Kind,
    Permission,
    RoleKey,
    Verdict,
    authority_of,
    guessed_kinds,
    judge,
    needs_of,
    report,
    rules_of,
    unresolved,
)
from olm_content.rights.merge import without_implied

RBAC = "rbac.authorization.k8s.io"
HEADER = (
    "pre-authorization failed: service account requires the following permissions to manage "
    "cluster extension:"
)


def obj(api: str, kind: str, name: str, namespace: str = "", **fields: Any) -> KubeObject:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def rbac(kind: str, name: str, namespace: str = "", **fields: Any) -> KubeObject:
    return obj(f"{RBAC}/v1", kind, name, namespace, **fields)


def refer(kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": RBAC, "kind": kind, "name": name}


PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
DEPLOYMENT = obj("apps/v1", "Deployment", "operator", "ns")
ACCOUNT = Account("ns", "installer")


def text_for(*objects: KubeObject, held: Authority | None = None) -> str:
    needs = needs_of(objects, guessed_kinds(objects), "ext")
    authority = held or Authority()
    return report(judge(needs, authority, dict.fromkeys(unresolved(needs, authority))))


def test_an_object_needs_verbs_for_all_names_and_verbs_for_its_own() -> None:
    assert text_for(DEPLOYMENT).splitlines() == [
        HEADER,
        (
            '  Namespace:"" APIGroups:["olm.operatorframework.io"] '
            "Resources:[clusterextensions/finalizers] ResourceNames:[ext] Verbs:[update]"
        ),
        (
            '  Namespace:"ns" APIGroups:["apps"] Resources:[deployments] '
            "ResourceNames:[operator] Verbs:[delete,get,patch,update]"
        ),
        '  Namespace:"ns" APIGroups:["apps"] Resources:[deployments] Verbs:[create,list,watch]',
    ]


def test_what_an_update_removes_has_to_be_seen_and_deleted() -> None:
    old = [obj("v1", "ConfigMap", "old", "ns"), rbac("ClusterRole", "c", rules=[PODS])]
    needs = needs_of([], guessed_kinds(old), "ext", removed=old)
    assert report(judge(needs, Authority(), {})).splitlines()[2:] == [
        (
            '  Namespace:"" APIGroups:["rbac.authorization.k8s.io"] Resources:[clusterroles] '
            "ResourceNames:[c] Verbs:[delete,get]"
        ),
        (
            '  Namespace:"ns" APIGroups:[] Resources:[configmaps] ResourceNames:[old] '
            "Verbs:[delete,get]"
        ),
    ]
    assert needs_of([], {}, "ext", removed=old).unserved == ()


def test_what_a_role_hands_out_is_needed_where_it_counts() -> None:
    objects = [rbac("ClusterRole", "c", rules=[PODS]), rbac("Role", "r", "ns", rules=[PODS])]
    lines = text_for(*objects).splitlines()
    assert '  Namespace:"" APIGroups:[] Resources:[pods] Verbs:[get]' in lines
    # What is granted in the whole cluster need not be granted in the namespace again.
    assert not [line for line in lines if "pods" in line and '"ns"' in line]


def test_a_binding_needs_what_its_role_in_the_bundle_gives() -> None:
    role = rbac("ClusterRole", "c", rules=[PODS])
    binding = rbac("RoleBinding", "b", "ns", roleRef=refer("ClusterRole", "c"))
    needs = needs_of([role, binding], guessed_kinds([role, binding]), "ext")
    escalate = rules_of([{"verbs": ["*"], "apiGroups": [RBAC], "resources": ["clusterroles"]}])
    held = Authority(cluster=escalate)
    assert unresolved(needs, held) == []
    missing = judge(needs, Authority(), {}).missing
    assert Permission("ns", "get", "", "pods") in missing
    # "*" on cluster roles includes both escalate and bind.
    assert Permission("ns", "get", "", "pods") not in judge(needs, held, {}).missing


def test_a_role_outside_the_bundle_is_asked_for_unless_bind_is_held() -> None:
    binding = rbac("ClusterRoleBinding", "b", roleRef=refer("ClusterRole", "view"))
    needs = needs_of([binding], guessed_kinds([binding]), "ext")
    view = RoleKey("ClusterRole", "", "view")
    assert unresolved(needs, Authority()) == [view]
    found = judge(needs, Authority(), {view: rules_of([PODS])})
    assert Permission("", "get", "", "pods") in found.missing
    assert judge(needs, Authority(), {view: None}).errors == (
        (
            'ClusterRoleBinding "b" refers to ClusterRole "view", which is neither in the cluster '
            "nor in the bundle"
        ),
    )
    bind = {"verbs": ["bind"], "apiGroups": [RBAC], "resources": ["clusterroles"]}
    assert unresolved(needs, Authority(cluster=rules_of([bind]))) == []


def test_an_aggregated_role_may_come_to_hold_anything() -> None:
    selectors = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    lines = text_for(rbac("ClusterRole", "c", aggregationRule=selectors)).splitlines()
    assert lines == [
        HEADER,
        '  Namespace:"" APIGroups:["*"] Resources:[*] Verbs:[*]',
        '  Namespace:"" Verbs:[*] NonResourceURLs:[*]',
    ]


def test_other_authorizers_count_for_requests_but_not_for_what_is_handed_out() -> None:
    role = rbac("ClusterRole", "c", rules=[PODS])
    needs = needs_of([role], {GVK(RBAC, "v1", "ClusterRole"): Kind("clusterroles", False)}, "ext")
    everything = judge(needs, Authority(), {}).missing
    elsewhere = Authority(otherwise=everything)
    assert judge(needs, elsewhere, {}).missing == {Permission("", "get", "", "pods")}
    escalate = Permission("", "escalate", RBAC, "clusterroles")
    assert judge(needs, Authority(otherwise=everything | {escalate}), {}).granted


def test_kinds_that_nothing_serves_are_reported() -> None:
    needs = needs_of([DEPLOYMENT], {}, "ext")
    assert judge(needs, Authority(), {}).errors == (
        'no matches for kind "Deployment" in version "apps/v1"',
    )


SUBJECTS = {
    "itself": ({"kind": "ServiceAccount", "name": "installer", "namespace": "ns"}, True),
    "itself, the namespace left out": ({"kind": "ServiceAccount", "name": "installer"}, True),
    "its namesake": ({"kind": "ServiceAccount", "name": "installer", "namespace": "o"}, False),
    "its user name": ({"kind": "User", "name": "system:serviceaccount:ns:installer"}, True),
    "all accounts": ({"kind": "Group", "name": "system:serviceaccounts"}, True),
    "accounts of its namespace": ({"kind": "Group", "name": "system:serviceaccounts:ns"}, True),
    "accounts of another": ({"kind": "Group", "name": "system:serviceaccounts:o"}, False),
    "everybody": ({"kind": "Group", "name": "system:authenticated"}, True),
    "a user of its name": ({"kind": "User", "name": "installer"}, False),
}


@pytest.mark.parametrize(("subject", "given"), SUBJECTS.values(), ids=SUBJECTS)
def test_who_is_meant_by_a_subject(subject: dict[str, str], given: bool) -> None:
    role = rbac("Role", "r", "ns", rules=[PODS])
    binding = rbac("RoleBinding", "b", "ns", roleRef=refer("Role", "r"), subjects=[subject])
    held = authority_of(ACCOUNT, [binding, role])
    assert held.allows(Permission("ns", "get", "", "pods", "any")) == given
    assert not held.allows(Permission("other", "get", "", "pods", "any"))


def test_a_cluster_role_counts_where_it_is_bound() -> None:
    subjects = [{"kind": "Group", "name": "system:serviceaccounts"}]
    role = rbac("ClusterRole", "c", rules=[PODS])
    here = rbac("RoleBinding", "b", "ns", roleRef=refer("ClusterRole", "c"), subjects=subjects)
    everywhere = rbac("ClusterRoleBinding", "b", roleRef=refer("ClusterRole", "c"))
    everywhere["subjects"] = subjects
    pods = Permission("", "get", "", "pods")
    assert not authority_of(ACCOUNT, [role, here]).allows(pods)
    assert authority_of(ACCOUNT, [role, everywhere]).allows(pods)
    assert not authority_of(ACCOUNT, [everywhere]).allows(pods)


def test_lines_are_merged_sorted_and_without_what_others_imply() -> None:
    missing = {
        Permission("", "list", "", "services"),
        Permission("", "watch", "", "services"),
        Permission("pipelines", "create", "apps", "deployments"),
        Permission("pipelines", "list", "", "services"),
        Permission("b", "get", "apps", "deployments", "x"),
        Permission("b", "get", "apps", "daemonsets", "x"),
        Permission("b", "get", "apps", "deployments", "y"),
        Permission("b", "get", "apps", "daemonsets", "y"),
        Permission("b", "delete", "batch", "jobs", "y"),
        Permission("b", "*", "batch", "jobs"),
        Permission("", "get", url="/metrics"),
        Permission("", "post", url="/metrics"),
    }
    assert report(Verdict(frozenset(missing))).splitlines() == [
        HEADER,
        '  Namespace:"" APIGroups:[] Resources:[services] Verbs:[list,watch]',
        '  Namespace:"" Verbs:[get,post] NonResourceURLs:[/metrics]',
        (
            '  Namespace:"b" APIGroups:["apps"] Resources:[daemonsets,deployments] '
            "ResourceNames:[x,y] Verbs:[get]"
        ),
        '  Namespace:"b" APIGroups:["batch"] Resources:[jobs] Verbs:[*]',
        '  Namespace:"pipelines" APIGroups:["apps"] Resources:[deployments] Verbs:[create]',
    ]


def test_implied_only_by_what_is_at_least_as_wide() -> None:
    missing = {
        Permission("ns", "*", "", "pods", "a"),
        Permission("ns", "get", "", "pods"),
        Permission("ns", "get", "", "pods/log"),
    }
    assert without_implied(missing) == missing


def test_nothing_missing_is_no_report() -> None:
    assert report(Verdict()) == ""


def test_a_report_of_any_size_fits_into_a_condition() -> None:
    missing = frozenset(Permission(f"ns{i}", "get", "", "pods", f"{i}") for i in range(2000))
    text = report(Verdict(missing, ("x",)))
    assert len(text.encode()) < 32 * 1024
    assert "more lines" in text.splitlines()[-1]


PLURALS = {
    "NetworkPolicy": "networkpolicies",
    "Ingress": "ingresses",
    "Service": "services",
    "Gateway": "gateways",
    "ServiceMonitor": "servicemonitors",
    "ConsoleQuickStart": "consolequickstarts",
    "PriorityClass": "priorityclasses",
}


@pytest.mark.parametrize(("kind", "plural"), PLURALS.items())
def test_plurals_are_guessed_as_kubernetes_guesses_them(kind: str, plural: str) -> None:
    assert guessed_kinds([obj("x/v1", kind, "n")]) == {GVK("x", "v1", kind): Kind(plural, False)}
