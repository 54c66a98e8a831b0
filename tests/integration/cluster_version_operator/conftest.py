"""The operator over a control plane of its own, which the tests of this folder share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.components import CONTROLLERS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.releases import ReleaseSpec
from tests.integration.clusters import own_control_plane

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
