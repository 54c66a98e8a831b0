"""Debian's browser, and a local console that is open in it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright

from console.local import run_local
from e2e.harness.controlplane import ControlPlane
from olm_client.reach import ClusterOptions, Reach

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",  # tests run as root, for whom there is none
    # A page in the background that loads itself anew gets another frame, and the session that
    # drives it is taken from the old one; now and then the renderer crashes as that loses its
    # emulated focus. The other feature is one that Playwright disables, whose list this replaces.
    "--disable-features=RenderDocument,PaintHolding",
)


@asynccontextmanager
async def local_console(control_plane: ControlPlane) -> AsyncIterator[str]:
    """An address that lets in to a console of this process."""
    entries: asyncio.Queue[str] = asyncio.Queue()
    options = ClusterOptions(Reach(str(control_plane.kubeconfig)))
    console = asyncio.create_task(run_local(options, 0, entries.put_nowait))
    try:
        yield await entries.get()
    finally:
        console.cancel()
        await asyncio.wait([console])


@asynccontextmanager
async def open_console(control_plane: ControlPlane) -> AsyncIterator[Page]:
    """The first page of a console of this process, which lets its browser in."""
    async with local_console(control_plane) as entry, async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = await (await chromium.new_context()).new_page()
        await page.goto(entry)
        yield page
        await chromium.close()
