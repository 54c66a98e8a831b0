"""Both programs on a control plane of their own, to which OpenShift's kinds come and go."""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane
from tests.integration.cluster_updates.openshift import OpenShift
from tests.integration.clusters import own_control_plane, own_olm

control_plane = own_control_plane("package")
olm = own_olm("package")


@pytest.fixture
def openshift(control_plane: ControlPlane) -> Iterator[OpenShift]:
    """OpenShift's kinds; nothing is defined yet."""
    made = OpenShift(control_plane)
    yield made
    made.disappear()
