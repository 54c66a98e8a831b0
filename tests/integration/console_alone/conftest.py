"""A cluster where no program of ours runs, and a browser, for all tests of the folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from e2e.olm.browser import CHROMIUM, FLAGS
from tests.integration.console.visits import PATIENCE_MILLISECONDS, require_chromium

CRDS = Path(__file__).parents[3] / "config" / "crd"


@pytest.fixture(scope="package")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """With our kinds; what is there of them is taken up by nobody."""
    folder = tmp_path_factory.mktemp("control-plane")
    with ControlPlane(folder, options=ControlPlaneOptions(controller_manager=False)) as running:
        running.apply(CRDS)
        yield running


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    require_chromium()
    expect.set_options(PATIENCE_MILLISECONDS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Pages that a test has opened end with it."""
    yield chromium
    for context in chromium.contexts:
        await context.close()
