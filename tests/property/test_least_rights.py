"""The account that `olm rbac` writes passes the preauthorization, and no rule of it is spare."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.objects import KubeObject
from olm_content.rights import Permission, as_rules, least
from olm_content.rights.least import held_by
from olm_content.rights.merge import widest
from tests.property.scale import cases
from tests.unit.olm_content.rights.least_rights import assert_least, needs_for

pytestmark = pytest.mark.property

RBAC = "rbac.authorization.k8s.io"
NAMES = ("a", "b")

verbs = st.lists(
    st.sampled_from(["get", "create", "escalate", "bind", "*"]), min_size=1, max_size=3
)
groups = st.lists(st.sampled_from(["", "apps", RBAC, "*"]), min_size=1, max_size=2)
resources = st.lists(
    st.sampled_from(["pods", "pods/status", "*/status", "roles", "clusterroles", "*"]),
    min_size=1,
    max_size=3,
)
names = st.lists(st.sampled_from(NAMES), max_size=2)
paths = st.lists(st.sampled_from(["/a", "/a*", "/a**", "/a/b", "*"]), min_size=1, max_size=2)


@st.composite
def policy_rules(draw: st.DrawFn) -> dict[str, Any]:
    if draw(st.integers(0, 4)) == 0:
        return {"verbs": draw(verbs), "nonResourceURLs": draw(paths)}
    return {
        "verbs": draw(verbs),
        "apiGroups": draw(groups),
        "resources": draw(resources),
        "resourceNames": draw(names),
    }


@st.composite
def objects(draw: st.DrawFn) -> KubeObject:
    kind = draw(
        st.sampled_from(
            ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Pod"]
        )
    )
    name = draw(st.sampled_from(NAMES))
    metadata: dict[str, Any] = {"name": name}
    if not kind.startswith("Cluster"):
        metadata["namespace"] = draw(st.sampled_from(["ns", "other"]))
    if kind in ("ConfigMap", "Pod"):
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    found: KubeObject = {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata}
    if kind.endswith("Binding"):
        referred = draw(
            st.sampled_from(["ClusterRole"] if kind[0] == "C" else ["Role", "ClusterRole"])
        )
        found["roleRef"] = {"kind": referred, "name": draw(st.sampled_from([*NAMES, "foreign"]))}
        return found
    found["rules"] = draw(st.lists(policy_rules(), max_size=3))
    if kind == "ClusterRole" and draw(st.integers(0, 5)) == 0:
        found["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    return found


bundles = st.lists(
    objects(), max_size=6, unique_by=lambda o: repr((o["kind"], sorted(o["metadata"].items())))
)


@settings(max_examples=cases(800), deadline=None)
@given(bundle=bundles)
def test_enough_and_nothing_to_spare(bundle: list[KubeObject]) -> None:
    assert_least(needs_for(bundle))


@settings(max_examples=cases(500), deadline=None)
@given(bundle=bundles)
def test_rules_hold_what_is_needed_once_and_nothing_else(bundle: list[KubeObject]) -> None:
    needed = least(needs_for(bundle))
    listed = [p for rule in as_rules(needed) for p in rule.rule.permissions()]
    assert sorted(listed) == sorted(needed)


permissions = st.builds(
    Permission,
    st.sampled_from(["", "ns"]),
    st.sampled_from(["get", "*"]),
    st.sampled_from(["", "*"]),
    st.sampled_from(["pods", "pods/status", "*/status", "*"]),
    st.sampled_from(["", *NAMES]),
) | st.builds(
    lambda verb, url: Permission("", verb, url=url),
    st.sampled_from(["get", "*"]),
    st.sampled_from(["/a", "/a*", "/a**", "*"]),
)


@settings(max_examples=cases(1000), deadline=None)
@given(given_ones=st.sets(permissions, max_size=12))
def test_what_is_left_brings_all_and_none_of_it_another(given_ones: set[Permission]) -> None:
    kept = set(widest(given_ones).values())
    assert all(held_by(kept).allows(permission) for permission in given_ones)
    for permission in kept:
        assert not held_by(kept - {permission}).allows(permission)
