"""CAs that OpenShift injects, and those that the cluster's proxy names."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import Registry
from e2e.olm.programs import SYSTEM_NAMESPACE
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.cluster_pulls import CA_NAMESPACE, ClusterPulls
from tests.integration.cluster_pulls.world import World, eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def private(tmp_path: Path) -> Iterator[Registry]:
    """A registry with a CA that nobody believes."""
    with Registry(tmp_path / "private") as running:
        yield running


def ca_of(registry: Registry) -> str:
    assert registry.ca_file is not None
    return registry.ca_file.read_text()


@pytest.fixture
async def pulls(
    control_plane: ControlPlane, namespace: str, world: World
) -> AsyncIterator[ClusterPulls]:
    """What follows the cluster for a program of that namespace."""
    world.serve_kinds()
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        made = ClusterPulls(client, namespace)
        yield made
        await made.close()


async def believed(pulls: ClusterPulls, text: str) -> None:
    """Waits until the file of CAs has this text, or is not there for an empty one."""
    await eventually(lambda: text_of(pulls).endswith(text) and bool(text_of(pulls)) == bool(text))


def text_of(pulls: ClusterPulls) -> str:
    file = pulls.settings.ca_file
    return Path(file).read_text() if file else ""


def test_a_catalog_is_pulled_once_its_registrys_ca_is_injected(
    world: World, private: Registry
) -> None:
    world.serve_kinds()
    world.apply_catalog(world.publish(private).tag_reference)
    world.wait_retrying("is not trusted")
    world.inject(SYSTEM_NAMESPACE, pem=ca_of(private))
    world.wait_serving()


async def test_what_is_injected_is_followed_and_nonsense_is_left_out(
    world: World,
    pulls: ClusterPulls,
    namespace: str,
    registry: Registry,
    private: Registry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await pulls.refresh()
    assert not pulls.settings.ca_file
    await asyncio.to_thread(world.inject, namespace, pem=ca_of(private))
    await believed(pulls, ca_of(private))
    with caplog.at_level(logging.WARNING, "olm_runtime"):
        await asyncio.to_thread(world.inject, namespace, pem="nonsense")
        fault = "trusted CAs of the cluster are left out"
        await eventually(lambda: any(fault in message for message in caplog.messages))
    await believed(pulls, ca_of(private))  # the last good ones stay
    await asyncio.to_thread(world.inject, namespace, pem=ca_of(registry))
    await believed(pulls, ca_of(registry))
    injected = f"/api/v1/namespaces/{namespace}/configmaps/{world.name}"
    await asyncio.to_thread(world.api.delete, injected)
    await believed(pulls, "")


async def test_cas_that_the_proxy_names_count_where_none_are_injected(
    world: World, pulls: ClusterPulls, namespace: str, registry: Registry, private: Registry
) -> None:
    await asyncio.to_thread(world.make_namespace, CA_NAMESPACE)
    world.inject(CA_NAMESPACE, name="user-ca-bundle", labelled=False, pem=ca_of(private))
    world.proxy(trusted_ca="user-ca-bundle")
    await pulls.refresh()
    await believed(pulls, ca_of(private))
    await asyncio.to_thread(world.inject, namespace, pem=ca_of(registry))
    await believed(pulls, ca_of(registry))
    await pulls.refresh()
    await believed(pulls, ca_of(registry))


async def test_named_cas_that_cannot_be_read_are_reported_once(
    world: World, pulls: ClusterPulls, caplog: pytest.LogCaptureFixture
) -> None:
    world.proxy(trusted_ca="absent")
    with caplog.at_level(logging.WARNING, "olm_runtime"):
        for _ in range(3):
            await pulls.refresh()
    named = f"ConfigMap {CA_NAMESPACE}/absent, which Proxy cluster names, cannot be read"
    assert len([message for message in caplog.messages if message.startswith(named)]) == 1


async def test_named_cas_stay_while_they_cannot_be_read(
    control_plane: ControlPlane,
    world: World,
    private: Registry,
    caplog: pytest.LogCaptureFixture,
) -> None:
    world.serve_kinds()
    world.make_namespace(CA_NAMESPACE)
    world.inject(CA_NAMESPACE, name="user-ca-bundle", labelled=False, pem=ca_of(private))
    world.proxy(trusted_ca="user-ca-bundle")
    world.let_read("default")
    binding = world.bind("view", "default", CA_NAMESPACE)
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        pulls = ClusterPulls(client.as_service_account("default", "default"), "default")
        await pulls.refresh()
        await believed(pulls, ca_of(private))
        world.api.delete(binding)
        async with asyncio.timeout(60):
            while not any("which Proxy cluster names" in message for message in caplog.messages):
                await pulls.refresh()
                await asyncio.sleep(0.1)
        await believed(pulls, ca_of(private))
        await pulls.close()
