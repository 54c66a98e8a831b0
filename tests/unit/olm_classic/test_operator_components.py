"""Whose components objects are, and how an Operator shows them."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.operator_components import (
    missing_labels,
    owners_of,
    reference_to,
    status_of,
    suffix_of_operator,
    suffix_of_subscription,
    suffixes_of,
    trimmed,
)

DEPLOYMENT = GVK("apps", "v1", "Deployment")
LONG = "an-operator-whose-name-is-long"


def made(name: str = "one", namespace: str = "here", **meta: Any) -> KubeObject:
    return {"metadata": {"name": name, "namespace": namespace, **meta}}


def test_labels_name_the_operators_of_a_component() -> None:
    labels = {"operators.coreos.com/b.y": "", "operators.coreos.com/a.x": "any", "other": ""}
    assert suffixes_of(made(labels=labels)) == ["a.x", "b.y"]
    assert suffixes_of(made()) == []


@pytest.mark.parametrize("namespace", ["short", "a-namespace-whose-name-is-long-as-well"])
def test_an_operator_and_its_subscription_mean_the_same_components(namespace: str) -> None:
    subscription = {**made(namespace=namespace), "spec": {"name": LONG}}
    suffix = suffix_of_subscription(subscription)
    assert suffix == suffix_of_operator(f"{LONG}.{namespace}") == suffix_of_operator(suffix)
    assert len(suffix) <= 63


def test_a_version_owns_by_reference_in_its_namespace_and_by_labels_anywhere() -> None:
    reference = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "name": "a.v1",
    }
    other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "b"}
    labels = {
        "olm.owner": "c.v1",
        "olm.owner.namespace": "there",
        "olm.owner.kind": "ClusterServiceVersion",
    }
    obj = made(ownerReferences=[reference, other], labels=labels)
    assert owners_of(obj) == {("here", "a.v1"), ("there", "c.v1")}
    assert owners_of(made(labels=labels | {"olm.owner.kind": "OperatorGroup"})) == set()


def test_only_labels_that_are_missing_are_added() -> None:
    obj = made(labels={"operators.coreos.com/a.x": "kept"})
    assert missing_labels(obj, ["a.x", "b.y"]) == {"operators.coreos.com/b.y": ""}
    assert missing_labels(obj, ["a.x"]) == {}


def test_a_reference_has_the_conditions_and_nothing_that_is_not_cached_of_them() -> None:
    condition = {"type": "Available", "status": "True", "observedGeneration": 3, "reason": None}
    obj = {**made(), "status": {"conditions": [condition], "replicas": 7}, "spec": {"a": 1}}
    assert reference_to(DEPLOYMENT, trimmed(obj)) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "one",
        "namespace": "here",
        "conditions": [{"type": "Available", "status": "True"}],
    }
    assert trimmed(trimmed(obj)) == trimmed(obj)


def test_the_phase_of_a_version_is_its_condition() -> None:
    time = "2026-01-01T00:00:00Z"
    status = {
        "phase": "Succeeded",
        "reason": "InstallSucceeded",
        "message": "install strategy completed with no errors",
        "lastUpdateTime": time,
        "lastTransitionTime": time,
        "conditions": [{"phase": "Pending"}],
    }
    found = reference_to(CLUSTER_SERVICE_VERSION, {**made(), "status": status})
    assert found["conditions"] == [
        {
            "type": "Succeeded",
            "status": "True",
            "reason": "InstallSucceeded",
            "message": "install strategy completed with no errors",
            "lastUpdateTime": time,
            "lastTransitionTime": time,
        }
    ]
    assert "conditions" not in reference_to(CLUSTER_SERVICE_VERSION, made())


def test_an_operator_without_components_has_only_the_selector() -> None:
    selector = {"matchExpressions": [{"key": "operators.coreos.com/a.x", "operator": "Exists"}]}
    assert status_of("a.x", []) == {"components": {"labelSelector": selector}}
