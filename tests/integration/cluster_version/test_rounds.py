"""Releases on a real API server: order, failures, and rounds that change nothing."""

import asyncio
from collections.abc import Iterable

import pytest

from api.objects import KubeObject, name_of
from cluster_version.errors import UpdateError
from cluster_version.io.applying import Applier
from cluster_version.io.rounds import Round, Tries
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import State
from cluster_version.status.levels import Level
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from tests.integration.cluster_version.test_applying import definition, job, manifest, service

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]


class World:
    """A release that is applied; `order` has what was checked, `ill` what is not well."""

    def __init__(self, applier: Applier) -> None:
        self.applier = applier
        self.order: list[str] = []
        self.ill: set[str] = set()

    async def check(self, manifest: Manifest, live: KubeObject | None) -> None:
        self.order.append(manifest.file_name)
        assert live is not None
        if manifest.file_name in self.ill:
            raise TerminalError("it is not well")

    def round(self, manifests: Iterable[Manifest], state: State = State.UPDATING) -> Round:
        return Round(tuple(manifests), state, self.applier, self.check, Tries(8, 0.05, 2.0))


@pytest.fixture
def world(applier: Applier) -> World:
    return World(applier)


def files(name: str, *places: str) -> list[Manifest]:
    return [
        Manifest(f"0000_{place}.yaml", manifest(f"{name}-{n}")) for n, place in enumerate(places)
    ]


async def test_runlevels_follow_each_other_and_files_of_a_component_too(
    world: World, name: str
) -> None:
    release = files(name, "20_alpha_01", "20_alpha_02", "20_beta_01", "30_gamma_01", "30_delta_01")
    assert await world.round(release).run() == []
    at = {file: position for position, file in enumerate(world.order)}
    names = [each.file_name for each in release]
    assert at[names[0]] < at[names[1]]
    assert max(at[file] for file in names[:3]) < min(at[file] for file in names[3:])


async def test_what_is_not_well_holds_its_runlevel_and_no_neighbour(
    world: World, name: str
) -> None:
    release = files(name, "20_alpha_01", "20_alpha_02", "20_beta_01", "30_gamma_01")
    world.ill = {"0000_20_alpha_01.yaml"}
    held = world.round(release)
    [error] = await held.run()
    assert isinstance(error, UpdateError)
    named = f'Could not update configmap "default/{name}-0" (1 of 4)'
    assert error.message == f"{named}: it is not well"
    assert set(world.order) == {"0000_20_alpha_01.yaml", "0000_20_beta_01.yaml"}
    assert held.done == 1
    assert held.levels == (Level("20", 1, 3, ("alpha",)), Level("30", 0, 1))
    world.ill.clear()
    whole = world.round(release)
    assert await whole.run() == []
    assert whole.levels == (Level("20", 3, 3), Level("30", 1, 1))


async def test_an_installation_does_not_wait_from_runlevel_to_runlevel(
    world: World, name: str
) -> None:
    release = files(name, "20_alpha_01", "30_gamma_01")
    world.ill = {"0000_20_alpha_01.yaml"}
    assert len(await world.round(release, State.INITIALIZING).run()) == 1
    assert "0000_30_gamma_01.yaml" in world.order


async def test_an_object_follows_its_definition(world: World, name: str) -> None:
    """The server takes a moment to serve a kind; what asks for it is tried again."""
    group = f"{name}.example.com"
    thing = {
        "apiVersion": f"{group}/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": "default"},
    }
    both = [
        Manifest("0000_10_alpha_01.yaml", definition(name)),
        Manifest("0000_10_alpha_02.yaml", thing),
    ]
    assert await world.round(both).run() == []


async def test_what_the_server_refuses_is_named_and_the_others_are_applied(
    world: World, name: str
) -> None:
    broken = service(name)
    broken["spec"]["ports"] = [{"name": "http", "port": 0}]
    release = [Manifest("0000_20_alpha_01.yaml", broken), *files(name, "20_beta_01")]
    refused = Round(release, State.UPDATING, world.applier, world.check, Tries(2, 0.01, 1.0))
    [error] = await refused.run()
    assert error.message.startswith(f'Could not update service "default/{name}" (1 of 2): ')
    assert "the object is invalid" in error.message
    assert isinstance(error, UpdateError)
    assert "spec.ports[0].port" in error.detail
    assert world.order == ["0000_20_beta_01.yaml"]


@pytest.mark.parametrize("state", [State.INITIALIZING, State.UPDATING])
async def test_a_job_divides_a_release(world: World, name: str, state: State) -> None:
    """Components of a runlevel are applied together otherwise; none is before its turn."""
    first, second = files(name, "20_alpha_01", "20_beta_01")
    release = [first, Manifest("0000_20_alpha_02.yaml", job(name)), second]
    world.ill = {first.file_name}
    assert len(await world.round(release, state).run()) == 1
    assert set(world.order) == {first.file_name}
    world.ill.clear()
    world.order.clear()
    assert await world.round(release, state).run() == []
    assert world.order == [each.file_name for each in release]


async def test_what_is_as_it_should_be_is_not_written(world: World, name: str) -> None:
    release = [
        *files(name, "10_alpha_01", "20_alpha_01"),
        Manifest("0000_30_alpha_01.yaml", job(name)),
        Manifest("0000_40_alpha_01.yaml", service(name)),
    ]
    first = world.round(release, State.INITIALIZING)
    await first.run()
    assert (first.done, first.written) == (4, 4)
    again = world.round(release, State.RECONCILING)
    await again.run()
    assert (again.done, again.written) == (4, 0)


async def test_operators_of_a_release_are_seen_before_their_turn(
    world: World, client: KubeClient, name: str
) -> None:
    operator = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator",
        "metadata": {"name": name},
        "status": {
            "relatedObjects": [{"group": "", "resource": "namespaces", "name": "default"}],
            "versions": [{"name": "operator", "version": "1.0.0"}],
        },
    }
    [held] = files(name, "20_alpha_01")
    world.ill = {held.file_name}
    await world.round([held, Manifest("0000_20_alpha_02.yaml", operator)]).run()
    path = f"/apis/config.openshift.io/v1/clusteroperators/{name_of(operator)}"
    made = await client.request("GET", path)
    assert "versions" not in made["status"]
    assert [each["name"] for each in made["status"]["relatedObjects"]] == ["default"]


async def test_a_round_that_takes_too_long_says_what_it_did_not_come_to(
    world: World, name: str
) -> None:
    release = files(name, "20_alpha_01", "30_gamma_01", "40_delta_01")
    endless = world.round(release)
    endless.check = _never
    [error] = await endless.run(seconds=0.5)
    place = f'configmap "default/{name}-0" (1 of 3)'
    assert error.message == f"1 incomplete task nodes, beginning with {place}"


async def _never(_: Manifest, __: KubeObject | None) -> None:
    await asyncio.Event().wait()


async def test_what_is_managed_by_somebody_else_is_passed_over(world: World, name: str) -> None:
    release = files(name, "20_alpha_01", "20_alpha_02")
    for each in release:
        each.object["metadata"]["annotations"] = {}
    held = world.round(release)
    place = {"group": "", "kind": "ConfigMap", "namespace": "default", "name": f"{name}-0"}
    held.filters = Filters(overrides=[{**place, "unmanaged": True}])
    assert await held.run() == []
    assert held.done == 1
    assert world.order == ["0000_20_alpha_02.yaml"]
