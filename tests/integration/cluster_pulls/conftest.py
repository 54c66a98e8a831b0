"""Both programs on a control plane of their own: in another one, mirrors would be everybody's."""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.programs import Olm
from tests.integration.cluster_pulls.world import World


@pytest.fixture(scope="package")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A running control plane of these tests alone."""
    with ControlPlane(tmp_path_factory.mktemp("cluster-pulls-control-plane")) as running:
        yield running


@pytest.fixture(scope="package")
def olm(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Olm]:
    """Both programs, running there."""
    with Olm(tmp_path_factory.mktemp("cluster-pulls"), control_plane, registry) as running:
        yield running


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    """Its API server."""
    with Api(control_plane) as connected:
        yield connected


@pytest.fixture
def world(olm: Olm, api: Api, registry: Registry) -> Iterator[World]:
    """The cluster; what the test makes is gone at its end."""
    made = World(olm, api, registry)
    yield made
    made.close()
