"""How package-server follows CatalogSources, in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place
from olm_classic.io import registry as connections
from olm_classic.package_manifests.shelf import Shelf
from olm_classic.package_server.catalogs import Catalogs
from olm_runtime.clocks import utc_now
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.proxies import Proxies
from tests.integration.classic.test_package_server import package

pytestmark = pytest.mark.integration

NEVER_SECONDS = 1000.0


@asynccontextmanager
async def following(classic: Classic, shelf: Shelf) -> AsyncIterator[Catalogs]:
    access = load_access(str(classic.control_plane.kubeconfig))
    async with KubeClient.connect(access) as client, asyncio.TaskGroup() as tasks:
        proxies = Proxies()
        catalogs = Catalogs(client, shelf, sync_seconds=0, clock=utc_now, proxies=proxies)
        task = tasks.create_task(catalogs.run())
        yield catalogs
        task.cancel()


async def test_a_catalog_that_is_reached_by_catalog_operator_is_tried_at_once(
    classic: Classic, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kubectl operator catalog add` waits for catalog-operator only; `install` may come next."""
    for delay in ("FIRST_DELAY_SECONDS", "LONGEST_DELAY_SECONDS"):
        monkeypatch.setattr(connections, delay, NEVER_SECONDS)
    key, shelf = (place.name, "late"), Shelf(global_namespace="")
    server = place.catalog("late", package("hello", "1.0.0"))
    server.stop()
    async with following(classic, shelf) as catalogs:
        await asyncio.to_thread(
            wait_until,
            lambda: catalogs.states().get(key) == "TRANSIENT_FAILURE",
            what="the catalog is not reached",
        )
        await asyncio.to_thread(server.serve, package("hello", "1.0.0"))
        await asyncio.to_thread(
            wait_until, lambda: shelf.counts().get(key) == 1, what="its package is there"
        )
