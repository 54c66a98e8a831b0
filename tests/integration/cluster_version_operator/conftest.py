"""The operator over a control plane of its own, which the tests of this folder share."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.components import CONTROLLERS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.feature_gates import FeatureGates
from e2e.olm.releases import ReleaseSpec, config_map
from tests.integration.cluster_version_operator.signing import keys_of
from tests.integration.clusters import own_control_plane
from tests.openpgp import Signer

control_plane = own_control_plane(
    # Tests say themselves how Deployments are.
    "package",
    controllers=tuple(each for each in CONTROLLERS if each != "deployment-controller"),
)


@pytest.fixture
def cluster(
    tmp_path: Path, control_plane: ControlPlane, registry: Registry
) -> Iterator[ClusterUpdates]:
    """An empty cluster with a ClusterVersion; the operator does not run yet."""
    with ClusterUpdates(tmp_path, control_plane, registry) as cluster:
        cluster.install()
        yield cluster
        cluster.clear()


@pytest.fixture
def level(cluster: ClusterUpdates) -> ClusterUpdates:
    """A cluster with the first release, completely applied."""
    cluster.begin(ReleaseSpec("1.0.0"))
    return cluster


@pytest.fixture(scope="session")
def signer() -> Signer:
    """Who signs releases."""
    return Signer()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The folder of a store of signatures."""
    return tmp_path / "store"


@pytest.fixture
def keys(signer: Signer, store: Path) -> KubeObject:
    """What a release trusts."""
    return keys_of(signer, store)


@pytest.fixture
def gates(cluster: ClusterUpdates) -> Iterator[dict[str, str]]:
    """The paths of the ConfigMaps of gates and of acknowledgements; there is a gate of 4.1."""
    paths = {}
    for name, namespace in (
        ("admin-gates", "openshift-config-managed"),
        ("admin-acks", "openshift-config"),
    ):
        place = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        found = config_map(name, {"ack-4.1-apis": "Read first."} if "gates" in name else {})
        found["metadata"]["namespace"] = namespace
        cluster.control_plane.apply("\n---\n".join(map(json.dumps, (place, found))))
        paths[name] = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    yield paths
    for path in paths.values():
        cluster.api.delete(path)


@pytest.fixture
def feature_gates(cluster: ClusterUpdates) -> Iterator[FeatureGates]:
    """A cluster that does not serve FeatureGates before the test makes one."""
    found = FeatureGates(cluster.control_plane, cluster.api)
    yield found
    found.clear()
