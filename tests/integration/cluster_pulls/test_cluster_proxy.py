"""The proxy of the cluster: a registry behind a name that only the proxy can resolve."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.registry import Registry
from tests.integration.cluster_pulls.world import World

pytestmark = pytest.mark.integration

NAME = "registry.test"
NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def far(tmp_path: Path, world: World) -> Iterator[Registry]:
    """A registry that is known as NAME, and believed."""
    with Registry(tmp_path / "far", names=[NAME]) as running:
        assert running.ca_file is not None
        ca = world.olm.registry_cas / "far.crt"
        shutil.copyfile(running.ca_file, ca)
        yield running
        ca.unlink()


async def test_changes_of_the_clusters_proxy_count_while_programs_run(
    world: World, far: Registry
) -> None:
    world.serve_kinds()
    place = f"{NAME}:{far.address.rpartition(':')[2]}"
    reference = world.publish(far).tag_reference.replace(far.address, place)
    async with ForwardProxy() as proxy:
        await asyncio.to_thread(world.apply_catalog, reference)
        await asyncio.to_thread(world.wait_retrying, "its name cannot be resolved")
        await asyncio.to_thread(world.proxy, httpsProxy=NOBODY, noProxy=".cluster.local,.svc")
        await asyncio.to_thread(world.wait_retrying, f"proxy {NOBODY}")
        assert not proxy.asked
        await asyncio.to_thread(world.proxy, httpsProxy=f"http://{proxy.address}")
        await asyncio.to_thread(world.wait_serving)
        assert set(proxy.asked) == {f"CONNECT {place}"}
        await asyncio.to_thread(world.delete_catalog)
        await asyncio.to_thread(
            world.proxy, httpsProxy=f"http://{proxy.address}", noProxy=f"{NAME},.svc"
        )
        await asyncio.to_thread(world.wait_refused, reference, "its name cannot be resolved")
