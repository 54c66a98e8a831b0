"""What the API server is asked, by whom it may be read, and what is said about it."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry import cluster_pulls
from olm_runtime.registry.cluster_pulls import ClusterPulls
from tests.integration.cluster_pulls.world import World, eventually

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "openshift.md"
YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KIND = "ImageDigestMirrorSet"
HOME = "default"


@pytest.fixture
async def pulls(client: KubeClient) -> AsyncIterator[ClusterPulls]:
    made = ClusterPulls(client, HOME)
    yield made
    await made.close()


async def until(pulls: ClusterPulls, *sources: str) -> None:
    """Waits until the settings are about these sources."""
    await eventually(lambda: sources_of(pulls) == sorted(sources))


def sources_of(pulls: ClusterPulls) -> list[str]:
    return sorted(entry.source for entry in pulls.settings.mirrors)


async def test_a_cluster_without_the_kinds_is_asked_once(
    world: World, client: KubeClient, pulls: ClusterPulls
) -> None:
    world.withdraw_kinds()
    assert not client.answers, "nothing is asked before a pull"
    await asyncio.gather(*(pulls.refresh() for _ in range(5)))
    assert client.answers == {("GET", "200"): 1}


async def test_what_is_served_is_there_after_a_look_and_followed_from_then_on(
    world: World, client: KubeClient, pulls: ClusterPulls
) -> None:
    world.serve_kinds()
    world.mirrors(KIND, "m.local")
    notified = asyncio.Event()

    async def notify() -> None:
        notified.set()

    acting = asyncio.create_task(pulls.act_on_changes(notify))
    await pulls.refresh()
    assert [entry.mirrors for entry in pulls.settings.mirrors] == [("m.local",)]
    asked = client.answers.total()
    await pulls.refresh()
    assert client.answers.total() == asked, "what is followed is not asked for"
    await asyncio.wait_for(notified.wait(), 60)
    notified.clear()
    await asyncio.to_thread(world.remove, KIND)
    await until(pulls)
    await asyncio.wait_for(notified.wait(), 60)
    acting.cancel()


async def test_the_examples_of_the_documentation_are_followed(
    world: World, client: KubeClient
) -> None:
    world.serve_kinds()
    _, mirrors, bundle = YAML_BLOCK.findall(PAGE.read_text())
    mirror_set = yaml.safe_load(mirrors)
    name = mirror_set["metadata"]["name"]
    world.apply(f"/apis/config.openshift.io/v1/imagedigestmirrorsets/{name}", mirror_set)
    injected = yaml.safe_load(bundle) | {"data": {"ca-bundle.crt": world.registry_ca()}}
    namespace = injected["metadata"]["namespace"]
    world.make_namespace(namespace)
    world.olm.control_plane.apply(yaml.safe_dump(injected))
    pulls = ClusterPulls(client, namespace)
    await pulls.refresh()
    [entry] = pulls.settings.mirrors
    assert (entry.source, entry.never_contact_source) == ("registry.redhat.io/redhat", True)
    assert pulls.settings.ca_file
    await pulls.close()


async def test_kinds_that_go_and_come_again_are_noticed(
    world: World, pulls: ClusterPulls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_pulls, "LOOK_SECONDS", 0.0)
    world.serve_kinds()
    world.mirrors(KIND, "m.local")
    await pulls.refresh()
    await until(pulls, world.source)
    await asyncio.to_thread(world.withdraw_kinds)
    await until(pulls)
    await asyncio.to_thread(world.serve_kinds)
    await asyncio.to_thread(world.mirrors, KIND, "m.local")
    async with asyncio.timeout(60):
        while not pulls.settings.mirrors:
            await pulls.refresh()
            await asyncio.sleep(0.1)


async def test_changes_are_notified_again_after_the_api_server_was_away(
    world: World, control_plane: ControlPlane, pulls: ClusterPulls
) -> None:
    world.serve_kinds()
    await pulls.refresh()
    await asyncio.to_thread(control_plane.stop_apiserver)
    await asyncio.to_thread(control_plane.start_apiserver)
    await asyncio.to_thread(world.mirrors, KIND, "m.local")
    await until(pulls, world.source)


async def test_who_may_not_read_them_is_reported_once_and_goes_on(
    world: World,
    client: KubeClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(cluster_pulls, "LOOK_SECONDS", 0.0)
    world.serve_kinds()
    world.mirrors(KIND, "m.local")
    pulls = ClusterPulls(client.as_service_account("default", "default"), HOME)
    with caplog.at_level(logging.WARNING, "olm_runtime"):
        for _ in range(3):
            await pulls.refresh()
    warnings = [message for message in caplog.messages if message.startswith(KIND)]
    assert len(warnings) == 1
    assert f"{KIND} cannot be read, none counts: " in warnings[0]
    assert "forbidden" in warnings[0]
    assert not pulls.settings.mirrors
    world.let_read("default")
    async with asyncio.timeout(60):
        while not pulls.settings.mirrors:
            await pulls.refresh()
            await asyncio.sleep(0.1)
    await pulls.close()


async def test_what_cannot_be_followed_is_reported_once(
    world: World, pulls: ClusterPulls, caplog: pytest.LogCaptureFixture
) -> None:
    world.serve_kinds()
    with caplog.at_level(logging.WARNING, "olm_runtime"):
        world.mirrors(KIND, "m.local", source="no/registry at all")
        await pulls.refresh()
        world.mirrors("ImageTagMirrorSet", "n.local", source="n.example")
        await until(pulls, "n.example")
    fault = f'{KIND} "{world.name}": spec.imageDigestMirrors[0] is left out: source "no/registry'
    assert len([message for message in caplog.messages if message.startswith(fault)]) == 1
