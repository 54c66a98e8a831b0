"""Operators: what belongs to an operator, found by the labels that it is given."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from api.objects import KubeObject, labels_of, metadata
from api.operators.names import V1, V1ALPHA1
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place
from e2e.olm.fbc import package_blobs

pytestmark = pytest.mark.integration

OPERATORS = f"/apis/{V1}/operators"
ACCOUNT = "serviceaccounts"


@pytest.fixture
def package(olm: Classic, place: Place) -> Iterator[str]:
    """The name of a package of the test's own; its Operator is removed."""
    package = place.name.replace("test", "hello")
    yield package
    olm.api.delete(f"{OPERATORS}/{package}.{place.name}")


def references(operator: KubeObject | None) -> set[tuple[str, str]]:
    """Kind and name of each component that is shown."""
    shown = ((operator or {}).get("status") or {}).get("components") or {}
    return {(each["kind"], each["name"]) for each in shown.get("refs") or ()}


def wait_operator(olm: Classic, name: str, holds: Callable[[KubeObject], bool]) -> KubeObject:
    path = f"{OPERATORS}/{name}"
    found = olm.api.wait(path, lambda obj: obj is not None and holds(obj), what=f"{path} shows it")
    return found or {}


def conditions_of(operator: KubeObject, kind: str) -> list[dict[str, Any]]:
    shown = (operator.get("status") or {}).get("components") or {}
    refs = shown.get("refs") or ()
    return [c for each in refs if each["kind"] == kind for c in each.get("conditions") or ()]


def test_an_operator_shows_the_components_of_what_a_subscription_installed(
    olm: Classic, registry: Registry
) -> None:
    place = olm.place()  # the bundle is for all namespaces
    package = place.name.replace("test", "hello")
    bundle = BundleSpec(package=package, version="1.0.0").publish(registry)
    place.catalog("catalog", package_blobs([bundle]))
    place.subscribe(package, source="catalog")
    csv = f"{package}.v1.0.0"
    place.wait_csv(csv)
    name = f"{package}.{place.name}"
    plan = metadata(place.wait_plan("Complete"))["name"]
    kinds = {
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterServiceVersion",
        "ConfigMap",
        "Deployment",
        "InstallPlan",
        "OperatorCondition",
        "ServiceAccount",
        "Subscription",
    }

    def holds(obj: KubeObject) -> bool:
        found = references(obj)
        return {kind for kind, _ in found} >= kinds and conditions_of(obj, "ClusterServiceVersion")[
            0:1
        ] != []

    operator = wait_operator(olm, name, holds)
    selector = operator["status"]["components"]["labelSelector"]["matchExpressions"]
    key = f"operators.coreos.com/{name}"
    assert selector == [{"key": key, "operator": "Exists"}]
    assert {("Subscription", package), ("InstallPlan", plan)} <= references(operator)
    for plural, each in (("subscriptions", package), ("clusterserviceversions", csv)):
        assert key in labels_of(olm.api.get(place.path(plural, each)) or {})

    # Labels that somebody takes away come back, as does the Operator.
    place.patch("clusterserviceversions", csv, {"metadata": {"labels": {key: None}}})
    place.wait("clusterserviceversions", csv, lambda obj: key in labels_of(obj))
    uid = metadata(operator)["uid"]
    olm.api.delete(f"{OPERATORS}/{name}")
    wait_operator(olm, name, lambda obj: holds(obj) and metadata(obj)["uid"] != uid)
    olm.remove(place.name)


def test_objects_become_components_and_cease_to_be_by_their_label(
    olm: Classic, place: Place, package: str
) -> None:
    name = f"{package}.{place.name}"
    key = f"operators.coreos.com/{name}"
    olm.api.create(OPERATORS, {"apiVersion": V1, "kind": "Operator", "metadata": {"name": name}})
    wait_operator(olm, name, lambda obj: "components" in (obj.get("status") or {}))
    base = f"/api/v1/namespaces/{place.name}"
    olm.api.create(f"{base}/{ACCOUNT}", {"metadata": {"name": "by-hand", "labels": {key: ""}}})
    olm.api.create(f"{base}/configmaps", {"metadata": {"name": "by-hand"}, "data": {"a": "b"}})
    account = ("ServiceAccount", "by-hand")
    wait_operator(olm, name, lambda obj: references(obj) == {account})
    olm.api.patch(f"{base}/configmaps/by-hand", {"metadata": {"labels": {key: ""}}})
    config_map = ("ConfigMap", "by-hand")
    wait_operator(olm, name, lambda obj: references(obj) == {account, config_map})
    olm.api.delete(f"{base}/{ACCOUNT}/by-hand")
    olm.api.patch(f"{base}/configmaps/by-hand", {"metadata": {"labels": {key: None}}})
    wait_operator(olm, name, lambda obj: references(obj) == set())


def test_copies_are_not_adopted(olm: Classic, place: Place, package: str) -> None:
    name = f"{package}.{place.name}"
    key = f"operators.coreos.com/{name}"
    place.csv(f"{package}.v1", labels={key: ""})
    place.csv(f"{package}.v2", labels={key: "", "olm.copiedFrom": "elsewhere"})
    original = ("ClusterServiceVersion", f"{package}.v1")
    copied = ("ClusterServiceVersion", f"{package}.v2")
    place.wait_csv(f"{package}.v1")
    found = wait_operator(olm, name, lambda obj: ("Deployment", "controller") in references(obj))
    assert original in references(found)
    assert copied not in references(found)


def test_a_status_that_is_written_often_writes_no_operator(
    olm: Classic, place: Place, package: str
) -> None:
    name = f"{package}.{place.name}"
    place.csv(f"{package}.v1", labels={f"operators.coreos.com/{name}": ""})
    place.wait_csv(f"{package}.v1")
    before = wait_operator(
        olm,
        name,
        lambda obj: (
            len(conditions_of(obj, "Deployment")) > 0
            and [c["type"] for c in conditions_of(obj, "ClusterServiceVersion")] == ["Succeeded"]
        ),
    )
    deployment = place.path("deployments", "controller", version="apps/v1")
    for number in range(5):
        olm.api.patch(f"{deployment}/status", {"status": {"collisionCount": number + 1}})
    # The condition comes after all of them: what was written is one status more.
    odd = {"type": "Odd", "status": "True", "reason": "R", "message": "m"}
    there = (olm.api.get(deployment) or {})["status"]["conditions"]
    olm.api.patch(f"{deployment}/status", {"status": {"conditions": [*there, odd]}})
    after = wait_operator(
        olm, name, lambda obj: "Odd" in [c["type"] for c in conditions_of(obj, "Deployment")]
    )
    assert before["status"] != after["status"]


def test_a_subscription_is_a_component_before_anything_is_installed(
    olm: Classic, place: Place, package: str
) -> None:
    place.subscribe(package, source="none")
    name = f"{package}.{place.name}"
    found = wait_operator(olm, name, lambda obj: references(obj) == {("Subscription", package)})
    assert found["apiVersion"] == V1
    assert (olm.api.get(place.path("subscriptions", package)) or {})["apiVersion"] == V1ALPHA1
