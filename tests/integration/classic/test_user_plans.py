"""InstallPlans that users make, with the names of ClusterServiceVersions alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject
from api.operators.names import V1ALPHA1
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Place, status
from e2e.olm.fbc import package_blobs
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader

pytestmark = pytest.mark.integration

API = {"group": "example.com", "version": "v1", "kind": "Lawn"}


@pytest.fixture(scope="module")
def blobs(registry: Registry) -> list[dict[str, Any]]:
    """`mower` has two versions; the second requires what `lawn` provides."""
    first, second = (BundleSpec(package="mower", version=each) for each in ("1.0.0", "1.1.0"))
    mower = [dict(each) for each in package_blobs([s.publish(registry) for s in (first, second)])]
    lawn = [
        dict(each)
        for each in package_blobs([BundleSpec(package="lawn", version="1.0.0").publish(registry)])
    ]
    _add(mower, "mower.v1.1.0", "olm.gvk.required")
    _add(lawn, "lawn.v1.0.0", "olm.gvk")
    return [*mower, *lawn]


def _add(blobs: list[dict[str, Any]], bundle: str, kind: str) -> None:
    [blob] = [each for each in blobs if each["name"] == bundle]
    blob["properties"] = [*blob["properties"], {"type": kind, "value": API}]


def ask(place: Place, name: str, approval: str, *csvs: str) -> None:
    spec = {"approval": approval, "approved": False, "clusterServiceVersionNames": list(csvs)}
    place.create(V1ALPHA1, "InstallPlan", name, spec)


def in_phase(place: Place, name: str, phase: str) -> KubeObject:
    return place.wait("installplans", name, lambda obj: status(obj, "phase") == phase)


def resolving(plan: KubeObject) -> Iterator[str]:
    return (each["resolving"] for each in status(plan, "plan"))


def test_a_plan_of_a_user_waits_for_its_catalog_and_brings_what_is_required(
    place: Place, blobs: list[dict[str, Any]]
) -> None:
    ask(place, "mine", "Automatic", "mower.v1.1.0")
    # Before that the program may not know the namespace's OperatorGroup yet, and say so.
    conflict = "DependenciesConflict"
    said = place.wait_condition("installplans", "mine", "Resolved", "False", reason=conflict)
    assert "no operators found with name mower.v1.1.0 in a visible catalog" in said["message"]
    place.catalog("operators", blobs)
    plan = in_phase(place, "mine", "Complete")
    assert plan["spec"]["approved"]
    assert set(resolving(plan)) == {"mower.v1.1.0", "lawn.v1.0.0"}
    place.wait_csv("mower.v1.1.0")
    place.wait_csv("lawn.v1.0.0")
    assert place.classic.api.list(place.path("subscriptions")) == []


def test_the_page_of_plans(place: Place, blobs: list[dict[str, Any]], tmp_path: Path) -> None:
    place.catalog("operators", blobs)
    reader = Reader(tmp_path, place.classic.control_plane, names={"my-team": place.name})
    reader.follow(steps(DOCS / "classic" / "install-plans.md"))
    place.wait_csv("mower.v1.1.0")


def test_a_plan_of_a_user_waits_for_approval_and_updates_what_is_installed(
    place: Place, blobs: list[dict[str, Any]]
) -> None:
    place.catalog("operators", blobs)
    ask(place, "first", "Manual", "mower.v1.0.0")
    place.approve(in_phase(place, "first", "RequiresApproval"))
    in_phase(place, "first", "Complete")
    ask(place, "second", "Automatic", "mower.v1.1.0")
    in_phase(place, "second", "Complete")
    place.wait_csv("mower.v1.1.0")
    place.classic.api.wait_gone(place.path("clusterserviceversions", "mower.v1.0.0"))
    ask(place, "third", "Automatic", "mower.v1.1.0")
    assert status(in_phase(place, "third", "Complete"), "plan") is None
