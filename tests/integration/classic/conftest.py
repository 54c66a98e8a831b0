"""OLM Classic over a control plane of its own, which all tests of this folder share."""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.classic import Classic, Place
from tests.integration.clusters import own_control_plane

control_plane = own_control_plane("package")


@pytest.fixture(scope="package")
def classic(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Classic]:
    """catalog-operator, installed and running."""
    with Classic(tmp_path_factory.mktemp("classic"), control_plane, registry) as classic:
        yield classic


@pytest.fixture
def place(classic: Classic) -> Iterator[Place]:
    """A namespace of the test's own, with an OperatorGroup for all namespaces."""
    place = classic.place()
    yield place
    classic.remove(place.name)
