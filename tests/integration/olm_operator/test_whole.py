"""From a Subscription to a running operator and back, by both programs."""

import time
from collections.abc import Iterator

import pytest

from api.objects import KubeObject
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import deployment
from e2e.olm.fbc import PublishedBundle, package_blobs

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def versions(registry: Registry) -> list[PublishedBundle]:
    return [
        BundleSpec(package="whole", version=f"1.{minor}.0").publish(registry) for minor in range(4)
    ]


@pytest.fixture
def everywhere(olm: Classic) -> Iterator[Place]:
    """A namespace whose operators watch all."""
    place = olm.place()
    yield place
    olm.remove(place.name)


def installed(place: Place, csv: str) -> KubeObject:
    """Waits until a Subscription has come to a version, which runs."""
    place.wait_subscription("whole", state="AtLatestKnown", installedCSV=csv)
    return place.wait_csv(csv)


def test_a_subscription_comes_to_run_is_updated_and_removed(
    olm: Classic, everywhere: Place, versions: list[PublishedBundle]
) -> None:
    place = everywhere
    served = place.catalog("operators", package_blobs(versions[:1]))
    place.wait_catalog("operators")
    place.subscribe("whole", source="operators")
    installed(place, "whole.v1.0.0")
    made = olm.api.get(place.path("deployments", "whole-operator", version="apps/v1")) or {}
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert {"name": "OPERATOR_CONDITION_NAME", "value": "whole.v1.0.0"} in container["env"]
    served.serve(package_blobs(versions))
    installed(place, "whole.v1.3.0")
    for minor in range(3):  # each version replaced the one before
        olm.api.wait_gone(place.path("clusterserviceversions", f"whole.v1.{minor}.0"))
    place.delete("subscriptions", "whole")
    place.delete("clusterserviceversions", "whole.v1.3.0")
    olm.api.wait_gone(place.path("deployments", "whole-operator", version="apps/v1"))


def test_a_restart_writes_nothing_where_all_is_well(olm: Classic, place: Place) -> None:
    place.csv("quiet.v1.0.0")
    place.wait_csv("quiet.v1.0.0")
    before = _versions(olm, place)
    olm.restart_operator()
    time.sleep(3)  # what would be written is written at once
    assert _versions(olm, place) == before


def _versions(olm: Classic, place: Place) -> dict[str, str]:
    paths = (
        place.path("clusterserviceversions", "quiet.v1.0.0"),
        place.path("operatorgroups", "group", version="operators.coreos.com/v1"),
        place.path("operatorconditions", "quiet.v1.0.0", version="operators.coreos.com/v2"),
        f"/api/v1/namespaces/{place.name}",
    )
    found = {path: olm.api.get(path) or {} for path in paths}
    live = olm.api.get(place.path("deployments", "controller", version="apps/v1")) or {}
    generations = {"deployment": str(live["metadata"]["generation"])}
    return {**generations, **{p: o["metadata"]["resourceVersion"] for p, o in found.items()}}


def test_a_failing_image_is_reported_with_the_reason_of_its_pods(
    olm: Classic, place: Place
) -> None:
    image = "registry.example.com/operator:missing"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "manifest unknown")
    place.csv("stuck.v1.0.0", deployments=[deployment("stuck", image=image)])
    csv = place.wait(
        "clusterserviceversions",
        "stuck.v1.0.0",
        lambda obj: "ImagePullBackOff" in str(status(obj, "message")),
    )
    assert csv["status"]["phase"] == "Installing"
    assert image in csv["status"]["message"]
