"""What one operator began another ends; the way back; objects that change what they belong to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.controlplane import wait_until
from e2e.olm.cluster_updates import CLUSTER_VERSION, ClusterUpdates
from e2e.olm.releases import NAMESPACE, PROFILE, ReleaseSpec, config_map

pytestmark = pytest.mark.integration

FIRST, SECOND = ReleaseSpec("1.0.0"), ReleaseSpec("1.0.1")
ALPHA = f"/api/v1/namespaces/{NAMESPACE}/configmaps/alpha-before"
MOVED = f"/api/v1/namespaces/{NAMESPACE}/configmaps/moved"
DEPLOYMENT = (
    "/apis/apps/v1/namespaces/openshift-cluster-version/deployments/cluster-version-operator"
)
LEASE = "/apis/coordination.k8s.io/v1/namespaces/openshift-cluster-version/leases/version"
CAPABILITY = {"capability.openshift.io/name": "Console"}


@pytest.fixture
def other(cluster: ClusterUpdates, tmp_path: Path) -> Iterator[ClusterUpdates]:
    """A second operator of the same cluster, which does not run yet."""
    with ClusterUpdates(tmp_path / "other", cluster.control_plane, cluster.registry) as other:
        yield other


def leads(cluster: ClusterUpdates) -> bool:
    """Whether its operator holds the lease."""
    return 'leader_election_master_status{name="version"} 1.0' in cluster.metrics()


def holder(cluster: ClusterUpdates) -> str:
    """Who holds the lease; empty if it is free."""
    lease = cluster.api.get(LEASE) or {"spec": {}}
    return str(lease["spec"].get("holderIdentity") or "")


def revisions(cluster: ClusterUpdates) -> list[str]:
    """What changes when the first objects of a release are written, the operator's among them."""
    found = (cluster.api.get(path) or {"metadata": {}} for path in (ALPHA, DEPLOYMENT))
    return [each["metadata"].get("resourceVersion", "") for each in found]


def version_of(cluster: ClusterUpdates, path: str) -> str:
    """The release that a ConfigMap is of."""
    found = cluster.api.get(path) or {"data": {}}
    return str(found["data"].get("version"))


def test_one_of_two_operators_works(cluster: ClusterUpdates, other: ClusterUpdates) -> None:
    """Scenarios 42 and 61: the one of the new release comes first, and goes on in its turn."""
    cluster.start(FIRST, image=FIRST.publish(cluster.registry))
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")
    image = SECOND.publish(cluster.registry)
    cluster.ask(image=image, force=True)
    cluster.wait_condition("Progressing", "True", "waiting on alpha, beta")
    deployment: KubeObject = cluster.api.get(DEPLOYMENT) or {}
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image
    other.start(SECOND, image=image)
    assert leads(cluster)
    assert not leads(other)
    stopped, applied = holder(cluster), revisions(cluster)
    assert stopped
    cluster.stop()
    assert holder(other) != stopped
    wait_until(lambda: leads(other), what="the other works")
    other.report("1.0.1")
    other.wait_level("1.0.1")
    assert revisions(other) == applied
    states = [(each["version"], each["state"]) for each in other.version["status"]["history"]]
    assert states == [("1.0.1", "Completed"), ("1.0.0", "Completed")]
    other.api.patch(ALPHA, {"data": {"version": "1.0.0"}})
    wait_until(lambda: version_of(other, ALPHA) == "1.0.1", what="it is of the new release")


def test_the_other_goes_on_where_one_was_killed(
    level: ClusterUpdates, other: ClusterUpdates
) -> None:
    """Scenarios 41 and 61: its lease has to expire, and nothing is applied twice."""
    image = SECOND.publish(level.registry)
    level.ask(image=image, force=True)
    level.wait_condition("Progressing", "True", "waiting on alpha, beta")
    other.start(SECOND, image=image)
    assert not leads(other)
    killed, applied = holder(level), revisions(level)
    level.kill()
    wait_until(lambda: leads(other), what="the other works")
    assert holder(other) != killed
    other.report("1.0.1")
    other.wait_level("1.0.1")
    assert revisions(other) == applied
    states = [(each["version"], each["state"]) for each in other.version["status"]["history"]]
    assert states == [("1.0.1", "Completed"), ("1.0.0", "Completed")]


def test_what_moves_into_a_disabled_capability_is_kept(cluster: ClusterUpdates) -> None:
    """Scenario 56."""
    file, moved = "0000_20_alpha_02_moved.yaml", config_map("moved", {"version": "1.0.0"})
    cluster.api.patch(
        CLUSTER_VERSION, {"spec": {"capabilities": {"baselineCapabilitySet": "None"}}}
    )
    cluster.begin(ReleaseSpec("1.0.0", {file: moved}))
    assert cluster.condition("ImplicitlyEnabledCapabilities")[0] == "False"
    moved = config_map("moved", {"version": "1.0.1"}, **PROFILE, **CAPABILITY)
    image = ReleaseSpec("1.0.1", {file: moved}).publish(cluster.registry)
    cluster.report("1.0.1")
    cluster.ask(image=image, force=True)
    cluster.wait_level("1.0.1")
    assert "Console" in cluster.wait_condition("ImplicitlyEnabledCapabilities", "True")
    assert version_of(cluster, MOVED) == "1.0.1"
