"""OLM Classic whole, over a control plane of its own, which all tests of this folder share."""

from collections.abc import Iterator

import pytest

from e2e.harness.components import AuditLevel
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.classic import Classic, Place
from tests.integration.clusters import own_control_plane

control_plane = own_control_plane("package", audit=AuditLevel.METADATA)


@pytest.fixture(scope="package")
def olm(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Classic]:
    """catalog-operator and olm-operator, installed and running."""
    folder = tmp_path_factory.mktemp("olm")
    with Classic(folder, control_plane, registry, whole=True) as olm:
        yield olm


@pytest.fixture(scope="module")
def alone(olm: Classic) -> Iterator[None]:
    """olm-operator does not run."""
    olm.stop_operator()
    yield
    olm.restart_operator()


@pytest.fixture
def place(olm: Classic) -> Iterator[Place]:
    """A namespace of the test's own, with an OperatorGroup for it alone."""
    place = olm.place(own=True)
    yield place
    olm.remove(place.name)
