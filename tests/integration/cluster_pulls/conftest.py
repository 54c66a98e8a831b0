"""Both programs on a control plane of their own: in another one, mirrors would be everybody's."""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.programs import Olm
from tests.integration.cluster_pulls.world import World
from tests.integration.clusters import own_control_plane, own_olm

control_plane = own_control_plane("package")
olm = own_olm("package")


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
