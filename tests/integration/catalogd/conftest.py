"""catalogd alone, on a control plane of its own.

Beside the tests of the whole product two of it would write the status of one catalog.
"""

from collections.abc import Iterator

import pytest

from e2e.harness.controlplane import ControlPlane


@pytest.fixture(scope="package")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A running control plane on which no other catalogd runs."""
    with ControlPlane(tmp_path_factory.mktemp("catalogd-control-plane")) as running:
        yield running
