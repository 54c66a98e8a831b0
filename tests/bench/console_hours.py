"""One page of the console that stays open while its watches expire again and again.

Run: python -m tests.bench.console_hours [--minutes 10]

Watches last two to four seconds in place of 300 to 600, the API server forgets versions after five,
and it is restarted each minute: ten minutes have as many ends of watches as a day. Each second a
catalog changes, and it is measured how long until the page says so. Then: what grew.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Page

from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from e2e.olm.browser import open_console
from e2e.olm.manifests import catalog
from olm_runtime.kube import client as kube_client
from tests.bench.bench_console import show
from tests.bench.processes import resident_mib

CRDS = Path(__file__).parents[2] / "config" / "crd"
KIND = "/apis/olm.operatorframework.io/v1/clustercatalogs"
NAME = "changing"
WATCH_SECONDS, FORGET_SECONDS, RESTART_SECONDS = 2, 5, 60.0
PATIENCE_MILLISECONDS = 60_000


@contextmanager
def cluster(work: Path) -> Iterator[ControlPlane]:
    """An API server that soon forgets, with a catalog that nobody serves."""
    forgets = (f"--etcd-compaction-interval={FORGET_SECONDS}s",)
    options = ControlPlaneOptions(controller_manager=False, apiserver_args=forgets)
    with ControlPlane(work / "control-plane", options=options) as running:
        running.apply(CRDS)
        running.apply(catalog(NAME, image(0)))
        yield running


def image(number: int) -> str:
    """What the catalog is of, at a change."""
    return f"registry.example.com/a:v{number:06}"


def change(control_plane: ControlPlane, number: int) -> None:
    """Changes the catalog."""
    with control_plane.client() as client:
        client.patch(
            f"{KIND}/{NAME}",
            json={"spec": {"source": {"image": {"ref": image(number)}}}},
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()


async def live(control_plane: ControlPlane, page: Page, minutes: float, took: list[float]) -> None:
    """Adds the seconds from each change until the page shows it."""
    begun = restarted = time.monotonic()
    while time.monotonic() < begun + minutes * 60:
        if time.monotonic() > restarted + RESTART_SECONDS:
            await asyncio.to_thread(control_plane.stop_apiserver)
            await asyncio.to_thread(control_plane.start_apiserver)
            restarted = time.monotonic()
        await asyncio.to_thread(change, control_plane, len(took) + 1)
        changed = time.monotonic()
        shown = page.get_by_text(image(len(took) + 1)).first
        await shown.wait_for(timeout=PATIENCE_MILLISECONDS)
        took.append(time.monotonic() - changed)
        await asyncio.sleep(max(0.0, 1 - took[-1]))


async def run(minutes: float) -> None:
    """Prints a line for each figure. Raises playwright's TimeoutError where the page stays old."""
    kube_client.WATCH_SECONDS = WATCH_SECONDS
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as name, cluster(Path(name)) as running:
        async with open_console(running) as page:
            await page.goto(f"{page.url.rstrip('/')}/catalogs/{NAME}")
            took: list[float] = []
            await live(running, page, minutes / 4, took)
            before, tasks = resident_mib(os.getpid()), len(asyncio.all_tasks())
            await live(running, page, minutes * 3 / 4, took)
            show("changes shown", str(len(took)))
            slowest = max(took)
            show("until shown", f"{statistics.median(took):.2f} s median, {slowest:.2f} s slowest")
            show("resident, before and after", f"{before:.0f}, {resident_mib(os.getpid()):.0f} MiB")
            show("tasks, before and after", f"{tasks}, {len(asyncio.all_tasks())}")


def main() -> None:
    """Reads how long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    asyncio.run(run(parser.parse_args().minutes))


if __name__ == "__main__":
    main()
