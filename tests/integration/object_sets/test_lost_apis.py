"""APIs that go: those of objects that are installed, and our own."""

import time

import pytest

from api.objects import KubeObject
from e2e.olm.api import OLM
from e2e.olm.programs import CONFIG, DEFINITIONS
from tests.integration.object_sets.world import World, crd

pytestmark = pytest.mark.integration

AWAY_SECONDS = 15.0
"""Long enough for whoever watches to be refused, and to give up."""


def thing(world: World, group: str) -> KubeObject:
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Thing",
        "metadata": {"name": "it", "namespace": world.namespace},
    }


def test_a_version_that_is_served_no_more_is_reported(world: World) -> None:
    group = f"{world.namespace}.example.com"
    definition = crd(group)
    world.apply(definition)
    world.apply(world.object_set([world.config_map()], [thing(world, group)]))
    world.wait("Progressing", "True", message="has rolled out")
    [first] = definition["spec"]["versions"]
    definition["spec"]["versions"] = [
        {**first, "served": False, "storage": False},
        {**first, "name": "v2"},
    ]
    world.apply(definition)
    world.wait("Progressing", "True", message="Thing")
    definition["spec"]["versions"][0]["served"] = True
    world.apply(definition)
    world.wait("Progressing", "True", message="has rolled out")
    world.product.control_plane.remove(f"{DEFINITIONS}/things.{group}")


def test_our_own_definitions_may_go_and_come_back(world: World) -> None:
    world.apply(world.object_set([world.config_map()]))
    world.wait("Succeeded", "True")
    world.product.control_plane.delete(CONFIG / "crd")
    world.api.wait_gone(world.map_path())
    time.sleep(AWAY_SECONDS)
    world.product.control_plane.apply(CONFIG / "crd")
    world.apply(world.object_set([world.config_map()], name="after"))
    world.wait("Succeeded", "True", name="after")
    assert world.api.get(f"{OLM}/clusterobjectsets") is not None
