"""operator-controller behind a proxy at which its writes go wrong."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from e2e.harness.api_proxy import ApiProxy
from e2e.harness.controlplane import ControlPlane
from e2e.harness.faults import FaultPlan
from e2e.harness.machine import Machine, what_is_missing
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane
from tests.integration.faults.life import KEY, Phase, Undisturbed, World, injecting

control_plane = own_control_plane("package")
"""One that no other operator-controller acts on: it would write past the proxy."""


@pytest.fixture(scope="package")
def world(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[World]:
    """The product of this folder's own: no other test lives with its crashes."""
    folder = tmp_path_factory.mktemp("faults")
    plan = FaultPlan(KEY)
    olm = Olm(folder / "olm", control_plane, registry)
    with ExitStack() as stack:
        proxy = stack.enter_context(
            ApiProxy(control_plane.endpoint, folder / "proxy", plan, injecting(olm))
        )
        api = stack.enter_context(Api(control_plane))
        if not what_is_missing():
            olm.machine = stack.enter_context(Machine(folder / "machine"))
        olm.api_for_operator_controller = proxy.endpoint
        with olm:
            control_plane.restart_controller_manager()
            world = World(olm, api, plan)
            world.prepare()
            yield world
            world.close()


@pytest.fixture(scope="package")
def undisturbed(world: World) -> dict[Phase, Undisturbed]:
    """What each phase is like without faults."""
    return world.measure(world.publish(3))
