"""Open pages while the API server is restarted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from e2e.harness.controlplane import ControlPlane
from e2e.olm.browser import open_console
from tests.integration.clusters import own_control_plane
from tests.integration.console.visits import require_chromium

pytestmark = pytest.mark.integration

CRDS = Path(__file__).parents[3] / "config" / "crd"
KIND = "/apis/olm.operatorframework.io/v1/clustercatalogs"
AWAY = "Not connected to the API server"
OPEN = ("/", "/doctor", "/catalogs/before", "/catalogs/before/remove", "/nowhere")
"""Of those some are watched, and some ask each time."""
SOON_MILLISECONDS = 5_000
"""A second is usual; machines of tests are busy."""


control_plane = own_control_plane(controller_manager=False)


def _add(control_plane: ControlPlane, name: str) -> None:
    catalog: dict[str, Any] = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": name},
        "spec": {"source": {"type": "Image", "image": {"ref": "registry.example.com/a:latest"}}},
    }
    control_plane.create(KIND, catalog)


async def test_pages_say_so_and_go_on_by_themselves(control_plane: ControlPlane) -> None:
    require_chromium()
    control_plane.apply(CRDS)
    async with open_console(control_plane) as page:
        context = page.context
        await page.get_by_role("link", name="Catalogs", exact=True).first.click()
        await asyncio.to_thread(_add, control_plane, "before")
        await expect(page.get_by_role("link", name="before")).to_be_visible()
        await page.evaluate("document.body.dataset.same = 'page'")

        here = page.url.removesuffix("/catalogs")
        await page.goto(f"{here}/classic")
        await expect(page.get_by_text("This cluster does not have what")).to_be_visible()
        await page.go_back()
        await page.evaluate("document.body.dataset.same = 'page'")
        for path in OPEN:
            await (await context.new_page()).goto(here + path)

        await asyncio.to_thread(control_plane.stop_apiserver)
        for each in context.pages:
            await expect(each.get_by_text(AWAY)).to_be_visible()
        await expect(page.get_by_role("link", name="before")).to_be_visible()
        late = await context.new_page()
        await late.goto(f"{here}/catalogs/later")
        await expect(late.get_by_text(AWAY)).to_be_visible()
        await expect(late.get_by_role("link", name="Extensions", exact=True)).to_be_visible()
        await asyncio.to_thread(control_plane.start_apiserver)
        await asyncio.to_thread(_add, control_plane, "later")
        await asyncio.to_thread(_add, control_plane, "after")
        await expect(page.get_by_role("link", name="after")).to_be_visible(
            timeout=SOON_MILLISECONDS
        )
        await expect(late.get_by_role("heading", name="later")).to_be_visible()
        for each in context.pages:
            await expect(each.get_by_text(AWAY)).to_be_hidden()
        assert await page.evaluate("document.body.dataset.same") == "page", "it was not reloaded"
