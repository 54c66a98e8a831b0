"""What Subscriptions lead to, from catalogs that are served to what is installed."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from api.objects import KubeObject
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Place, status
from e2e.olm.fbc import PublishedBundle, package_blobs

pytestmark = pytest.mark.integration

Blob = dict[str, Any]


class Operator(BundleSpec):
    """A bundle whose ClusterServiceVersion the API server takes."""

    def _csv(self) -> dict[str, Any]:
        csv = super()._csv()
        return {**csv, "spec": {"displayName": self.package, **csv["spec"]}}


@pytest.fixture(scope="module")
def bundles(registry: Registry) -> "Bundles":
    return Bundles(registry)


class Bundles:
    """Bundles in the registry, each pushed once."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._pushed: dict[tuple[str, str], PublishedBundle] = {}

    def of(self, package: str, *versions: str) -> list[PublishedBundle]:
        return [self._bundle(package, version) for version in versions]

    def _bundle(self, package: str, version: str) -> PublishedBundle:
        if (package, version) not in self._pushed:
            operator = Operator(package=package, version=version)
            self._pushed[package, version] = operator.publish(self._registry)
        return self._pushed[package, version]


def channel(bundles: Iterable[PublishedBundle]) -> list[Blob]:
    """A package with one channel, in which each version replaces the one before it."""
    return [dict(blob) for blob in package_blobs(bundles)]


def latest(place: Place, package: str, version: str) -> KubeObject:
    """Waits until a Subscription has come to a version, and that is installed."""
    csv = f"{package}.v{version}"
    found = place.wait_subscription(
        package, state="AtLatestKnown", currentCSV=csv, installedCSV=csv
    )
    place.wait_csv(csv)
    return found


def conditions(obj: KubeObject) -> dict[str, Mapping[str, Any]]:
    return {each["type"]: each for each in status(obj, "conditions") or ()}


def test_a_subscription_installs_and_updates_through_every_version(
    place: Place, bundles: Bundles
) -> None:
    versions = bundles.of("walk", "1.0.0", "1.1.0", "1.2.0", "1.3.0")
    server = place.catalog("operators", channel(versions[:1]))
    place.subscribe("walk", source="operators", channel="stable")
    latest(place, "walk", "1.0.0")
    plan = place.wait_plan("Complete")
    assert plan["spec"]["clusterServiceVersionNames"] == ["walk.v1.0.0"]
    assert plan["metadata"]["name"].startswith("install-")
    server.serve(channel(versions))
    found = latest(place, "walk", "1.3.0")
    plan = place.wait_plan("Complete", 4)
    assert status(found, "installPlanRef")["name"] == plan["metadata"]["name"]
    assert status(found, "installPlanGeneration") == 4
    names = [each["spec"]["clusterServiceVersionNames"] for each in place.install_plans()]
    assert names == [[f"walk.v1.{minor}.0"] for minor in range(4)]
