"""The account that `olm rbac` writes passes the preauthorization, and no rule of it is spare."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

from api.objects import KubeObject
from olm_content.rights import Permission, as_rules, least
from olm_content.rights.least import held_by
from olm_content.rights.merge import widest
from tests.property.scale import cases, chances
from tests.unit.olm_content.rights.least_rights import assert_least, needs_for

pytestmark = pytest.mark.property

RBAC = "rbac.authorization.k8s.io"
NAMES = ("a", "b")

VERBS = ["get", "create", "escalate", "bind", "*"]
GROUPS = ["", "apps", RBAC, "*"]
RESOURCES = ["pods", "pods/status", "*/status", "roles", "clusterroles", "*"]
PATHS = ["/a", "/a*", "/a**", "/a/b", "*"]
KINDS = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Pod"]


def some(chance: Random, of: Sequence[str], least: int, most: int) -> list[str]:
    """So many of them, perhaps one twice."""
    return chance.choices(of, k=chance.randint(least, most))


def policy_rule(chance: Random) -> dict[str, Any]:
    if chance.randint(0, 4) == 0:
        return {"verbs": some(chance, VERBS, 1, 3), "nonResourceURLs": some(chance, PATHS, 1, 2)}
    return {
        "verbs": some(chance, VERBS, 1, 3),
        "apiGroups": some(chance, GROUPS, 1, 2),
        "resources": some(chance, RESOURCES, 1, 3),
        "resourceNames": some(chance, NAMES, 0, 2),
    }


def an_object(chance: Random) -> KubeObject:
    kind = chance.choice(KINDS)
    metadata: dict[str, Any] = {"name": chance.choice(NAMES)}
    if not kind.startswith("Cluster"):
        metadata["namespace"] = chance.choice(["ns", "other"])
    if kind in ("ConfigMap", "Pod"):
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata}
    found: KubeObject = {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata}
    if kind.endswith("Binding"):
        referred = "ClusterRole" if kind[0] == "C" else chance.choice(["Role", "ClusterRole"])
        found["roleRef"] = {"kind": referred, "name": chance.choice([*NAMES, "foreign"])}
        return found
    found["rules"] = [policy_rule(chance) for _ in range(chance.randint(0, 3))]
    if kind == "ClusterRole" and chance.randint(0, 5) == 0:
        found["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    return found


def a_bundle(chance: Random) -> list[KubeObject]:
    """Objects, of which none is there twice."""
    found = (an_object(chance) for _ in range(chance.randint(0, 7)))
    return list({repr((o["kind"], sorted(o["metadata"].items()))): o for o in found}.values())


@settings(max_examples=cases(800), deadline=None)
@given(bundle=chances.map(a_bundle))
def test_enough_and_nothing_to_spare(bundle: list[KubeObject]) -> None:
    assert_least(needs_for(bundle))


@settings(max_examples=cases(500), deadline=None)
@given(bundle=chances.map(a_bundle))
def test_rules_hold_what_is_needed_once_and_nothing_else(bundle: list[KubeObject]) -> None:
    needed = least(needs_for(bundle))
    listed = [p for rule in as_rules(needed) for p in rule.rule.permissions()]
    assert sorted(listed) == sorted(needed)


def a_permission(chance: Random) -> Permission:
    verb = chance.choice(["get", "*"])
    if chance.randint(0, 1):
        return Permission("", verb, url=chance.choice(["/a", "/a*", "/a**", "*"]))
    return Permission(
        chance.choice(["", "ns"]),
        verb,
        chance.choice(["", "*"]),
        chance.choice(["pods", "pods/status", "*/status", "*"]),
        chance.choice(["", *NAMES]),
    )


def permissions(chance: Random) -> set[Permission]:
    return {a_permission(chance) for _ in range(chance.randint(0, 12))}


@settings(max_examples=cases(1000), deadline=None)
@given(given_ones=chances.map(permissions))
def test_what_is_left_brings_all_and_none_of_it_another(given_ones: set[Permission]) -> None:
    remaining = set(widest(given_ones).values())
    assert all(held_by(remaining).allows(permission) for permission in given_ones)
    for permission in remaining:
        assert not held_by(remaining - {permission}).allows(permission)
