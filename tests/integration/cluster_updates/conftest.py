"""Both programs on a control plane of their own, to which OpenShift's kinds come and go."""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.programs import Olm
from tests.integration.cluster_updates.openshift import OpenShift


@pytest.fixture(scope="package")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(tmp_path_factory.mktemp("cluster-updates-control-plane")) as running:
        yield running


@pytest.fixture(scope="package")
def olm(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Olm]:
    with Olm(tmp_path_factory.mktemp("cluster-updates"), control_plane, registry) as running:
        yield running


@pytest.fixture
def openshift(control_plane: ControlPlane) -> Iterator[OpenShift]:
    """OpenShift's kinds; nothing is defined yet."""
    made = OpenShift(control_plane)
    yield made
    made.disappear()
