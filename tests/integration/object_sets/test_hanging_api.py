"""An API group that never answers delays only those who have objects of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.objects import KubeObject, is_true
from e2e.harness.controlplane import wait_until
from e2e.olm.programs import DEFINITIONS, HOST
from tests.integration.object_sets.world import World, crd, thing
from tests.integration.test_fairness import Silence

pytestmark = pytest.mark.integration

HANGING = 60
PROMPT_SECONDS = 60.0
"""In which the slots of the queue alone could not even begin with so many: the API server gives up
after ten seconds."""


@pytest.fixture
def silence() -> Iterator[Silence]:
    silence = Silence()
    yield silence
    silence.close()


def hanging(group: str, port: int) -> KubeObject:
    """A definition whose second version has to be converted by somebody who never answers."""
    found = crd(group)
    spec: dict[str, Any] = found["spec"]
    [first] = spec["versions"]
    spec["versions"] = [first, {**first, "name": "v2", "storage": False}]
    webhook = {
        "clientConfig": {"url": f"https://{HOST}:{port}/"},
        "conversionReviewVersions": ["v1"],
    }
    spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return found


def second(world: World, group: str, name: str) -> KubeObject:
    """An object of the second version."""
    meta = {"name": name, "namespace": world.namespace}
    return {**thing(world, group), "apiVersion": f"{group}/v2", "metadata": meta}


def test_a_healthy_set_is_applied_while_many_wait_for_a_group_that_hangs(
    world: World, silence: Silence
) -> None:
    group = f"{world.namespace}.example.com"
    world.apply(hanging(group, silence.port))
    stuck = [f"hangs-{number}" for number in range(HANGING)]
    try:
        world.apply(*(world.object_set([second(world, group, n)], name=n) for n in stuck))
        arrived = "that many wait for an answer"
        wait_until(lambda: silence.callers >= HANGING, what=arrived)
        world.apply(world.object_set([world.config_map()]))
        path = world.path()
        world.api.wait_condition(path, "Succeeded", "True", timeout=PROMPT_SECONDS)
        for name in stuck:
            assert not is_true(world.api.get(world.path(name)) or {}, "Succeeded"), name
    finally:
        world.product.control_plane.remove(f"{DEFINITIONS}/things.{group}")
