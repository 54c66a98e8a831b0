"""The one maker of clusters of a suite's own: fixtures to be named where they are used.

    control_plane = own_control_plane(audit=AuditLevel.METADATA)
    olm = own_olm()

in a module or a conftest.py takes the place of the session's, which every suite shares that does
without. A worker makes each at its first use. With the scope `package` it ends with the folder,
which tests/scheduling.py has to name: else each worker would make one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.programs import Olm

Scope = Literal["session", "package", "module", "function"]


def own_control_plane(scope: Scope = "module", **options: Any) -> object:
    """A fixture: a running control plane; `options` are those of ControlPlaneOptions."""

    @pytest.fixture(scope=scope)
    def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
        folder = tmp_path_factory.mktemp("control-plane")
        with ControlPlane(folder, options=ControlPlaneOptions(**options)) as running:
            yield running

    return control_plane


def own_olm(scope: Scope = "module", *, catalogd: bool = True) -> object:
    """A fixture: both programs, or operator-controller alone, over `control_plane`."""

    @pytest.fixture(scope=scope)
    def olm(
        tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
    ) -> Iterator[Olm]:
        folder = tmp_path_factory.mktemp("olm")
        with running_olm(folder, control_plane, registry, catalogd=catalogd) as running:
            yield running

    return olm


@contextmanager
def running_olm(
    folder: Path, control_plane: ControlPlane, registry: Registry, *, catalogd: bool = True
) -> Iterator[Olm]:
    """The programs, installed and running; the garbage collector knows their kinds."""
    olm = Olm(folder, control_plane, registry)
    olm.install()
    control_plane.restart_controller_manager()
    try:
        if catalogd:
            olm.start_catalogd()
        olm.start_operator_controller()
        yield olm
    finally:
        olm.stop()
