"""Programs behind a proxy at which their writes go wrong."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from e2e.harness.api_proxy import ApiProxy
from e2e.harness.controlplane import ControlPlane
from e2e.harness.faults import FaultPlan
from e2e.harness.kubeconfig import Endpoint
from e2e.harness.machine import Machine, what_is_missing
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.classic import Classic
from e2e.olm.programs import Olm
from tests.integration.clusters import own_control_plane
from tests.integration.faults.extensions import Extensions
from tests.integration.faults.life import KEY, Scenario, World, injecting
from tests.integration.faults.matrix import Measure
from tests.integration.faults.subscriptions import Subscriptions
from tests.integration.faults.versions import Versions

control_plane = own_control_plane("package")
"""One that no other operator-controller acts on: it would write past the proxy."""

operator_control_plane = own_control_plane("package")
"""Another one: in the first a stand-in does what olm-operator does."""

CLASSIC_KEYS = 5000
"""The first of the other scenario's."""


@contextmanager
def proxied(scenario: Scenario, plan: FaultPlan, folder: Path) -> Iterator[Endpoint]:
    """What the program of a scenario is to take for the API server."""
    server = scenario.control_plane.endpoint
    with ApiProxy(server, folder / "proxy", plan, injecting(scenario)) as proxy:
        yield proxy.endpoint


@pytest.fixture(scope="package")
def world(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[World]:
    """operator-controller of this folder's own: no other test lives with its crashes."""
    folder = tmp_path_factory.mktemp("faults")
    olm, plan = Olm(folder / "olm", control_plane, registry), FaultPlan(KEY)
    with ExitStack() as stack:
        scenario = Extensions(olm, stack.enter_context(Api(control_plane)))
        if not what_is_missing():
            olm.machine = stack.enter_context(Machine(folder / "machine"))
        olm.api_for_operator_controller = stack.enter_context(proxied(scenario, plan, folder))
        stack.enter_context(olm)
        control_plane.restart_controller_manager()
        scenario.prepare()
        world = World(scenario, plan)
        stack.callback(world.close)
        yield world


@pytest.fixture(scope="package")
def undisturbed(world: World) -> Measure:
    """What each phase is like without faults."""
    return world.measure(world.publish(3))


@pytest.fixture(scope="package")
def classic_world(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[World]:
    """catalog-operator, likewise."""
    folder = tmp_path_factory.mktemp("classic-faults")
    classic, plan = Classic(folder / "classic", control_plane, registry), FaultPlan(KEY)
    scenario = Subscriptions(classic)
    with ExitStack() as stack:
        classic.api_for_programs = stack.enter_context(proxied(scenario, plan, folder))
        stack.enter_context(classic)
        world = World(scenario, plan, first=CLASSIC_KEYS)
        stack.callback(world.close)
        yield world


@pytest.fixture(scope="package")
def classic_undisturbed(classic_world: World) -> Measure:
    """What each phase is like without faults."""
    return classic_world.measure(classic_world.publish(3))


@pytest.fixture(scope="package")
def operator_world(
    tmp_path_factory: pytest.TempPathFactory,
    operator_control_plane: ControlPlane,
    registry: Registry,
) -> Iterator[World]:
    """olm-operator, likewise."""
    folder = tmp_path_factory.mktemp("operator-faults")
    plan = FaultPlan(KEY)
    classic = Classic(folder / "classic", operator_control_plane, registry, whole=True)
    scenario = Versions(classic)
    with ExitStack() as stack:
        classic.api_for_programs = stack.enter_context(proxied(scenario, plan, folder))
        stack.enter_context(classic)
        world = World(scenario, plan)
        stack.callback(world.close)
        yield world


@pytest.fixture(scope="package")
def operator_undisturbed(operator_world: World) -> Measure:
    """What each phase is like without faults."""
    return operator_world.measure(operator_world.publish(3))
