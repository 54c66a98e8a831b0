"""Figures of `olm console` over a cluster with four catalogs of 330 packages and 1 000 extensions.

Run: python -m tests.bench.bench_console

A first visit by Chromium with nothing kept, searches as they are typed, a page of the extensions,
memory, and 200 open pages while what they show changes each second.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random
from threading import Thread

import httpx
from playwright.sync_api import sync_playwright

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.process import ChildProcess, service_environment
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.browser import CHROMIUM, FLAGS
from e2e.olm.fbc import catalog_files
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from tests.bench.bench_search import package
from tests.bench.processes import cpu_seconds, status_mib

CATALOGS, PACKAGES, EXTENSIONS = 4, 330, 1000
OPEN, SECONDS = 200, 20
LIVE = ("/extensions", "/", "/extensions?page=7", "/extensions/extension-0001")
"""Pages that show what changes; open are as many of each."""
CHANGED = ("extension-0001", "extension-0310")
"""Extensions of the first and of the seventh page of the list."""
TYPED = (
    "operator sto",
    "storage",
    "package-01",
    "queue mesh",
    "0042",
    "logs op",
    "keys",
    "nothing",
)
EXTENSION = """---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: extension-{at:04}}}
spec:
  namespace: default
  serviceAccount: {{name: installer}}
  source: {{sourceType: Catalog, catalog: {{packageName: package-0001-operator}}}}
"""


@contextmanager
def console(work: Path) -> Iterator[tuple[ChildProcess, ControlPlane, Path]]:
    """It, the cluster, and the file in which it prints its addresses."""
    with ExitStack() as stack:
        control_plane = stack.enter_context(ControlPlane(work / "k"))
        registry = stack.enter_context(Registry(work / "r"))
        olm = Olm(work / "olm", control_plane, registry)
        stack.callback(olm.stop)
        olm.install()
        olm.start_catalogd()
        noise = Random(22)
        with Api(control_plane) as api:
            for number in range(CATALOGS):
                made = [list(package(at, noise)) for at in range(PACKAGES)]
                image = registry.push(
                    catalog_image(catalog_files(made)), f"bench/{number}", tag="v1"
                )
                control_plane.apply(catalog(f"bench-{number}", image.tag_reference))
            for number in range(CATALOGS):
                api.wait_condition(catalog_path(f"bench-{number}"), "Serving", "True")
        control_plane.apply("".join(EXTENSION.format(at=at) for at in range(EXTENSIONS)))
        printed = work / "addresses"
        child = ChildProcess(
            "olm console",
            (
                str(Path(sys.executable).with_name("olm")),
                *("console", "--no-open", "--catalogd-cas-dir", str(olm.catalogs_ca.parent)),
            ),
            log=work / "console.log",
            stdout=printed,
            env=service_environment(
                KUBECONFIG=str(control_plane.kubeconfig),
                XDG_CACHE_HOME=str(work / "cache"),
                PYTHONUNBUFFERED="1",
            ),
        )
        stack.callback(child.stop)
        child.start()
        child.wait_ready(lambda: "http://" in printed.read_text())
        yield child, control_plane, printed


def main() -> None:
    """Prints a line for each figure."""
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as name, console(Path(name)) as made:
        child, control_plane, printed = made
        show("resident after its start", f"{status_mib(child, 'VmRSS'):.0f} MiB")
        first_visit(address(printed))
        while printed.read_text().count("http://") < 2:
            time.sleep(0.05)
        with httpx.Client(follow_redirects=True, trust_env=False, timeout=120) as browser:
            origin = str(browser.get(address(printed)).url).rstrip("/")
            first = f"{origin}/packages?words=a"
            timed(child, "first search", lambda: get(browser, first), 1)
            begun = time.perf_counter()
            while "Being read" in browser.get(first).text:
                time.sleep(0.1)
            show("all catalogs known", f"{time.perf_counter() - begun:.1f} s later")
            show("resident with them", f"{status_mib(child, 'VmRSS'):.0f} MiB")
            words = itertools.cycle(TYPED)
            timed(
                child, "search", lambda: get(browser, f"{origin}/packages?words={next(words)}"), 48
            )
            for page in ("/extensions", "/extensions?page=7", "/"):
                timed(child, page, partial(get, browser, origin + page), 20)
            show("resident", f"{status_mib(child, 'VmRSS'):.0f} MiB")
            open_pages(child, control_plane, origin, browser)
        show("resident at last", f"{status_mib(child, 'VmRSS'):.0f} MiB")
        show("load of the machine", f"{os.getloadavg()[0]:.1f}")


def show(what: str, value: str) -> None:
    """One figure."""
    print(f"{what:32} {value}", flush=True)


def address(printed: Path) -> str:
    """The newest address that lets in."""
    return printed.read_text().split()[-1]


def get(browser: httpx.Client, page: str) -> None:
    """One page."""
    browser.get(page).raise_for_status()


def timed(child: ChildProcess, what: str, ask: Callable[[], None], times: int) -> None:
    """How long answers take, and the processor time of the console for each."""
    took, before = [], cpu_seconds(child)
    for _ in range(times):
        begun = time.perf_counter()
        ask()
        took.append((time.perf_counter() - begun) * 1000)
    took.sort()
    cpu = (cpu_seconds(child) - before) / times * 1000
    p95 = took[min(times - 1, int(times * 0.95))]
    show(what, f"{statistics.median(took):.0f} ms median, {p95:.0f} ms p95, {cpu:.0f} CPU ms")


def first_visit(entry: str) -> None:
    """A browser that keeps nothing yet."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = chromium.new_page()
        sizes: list[float] = []
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", lambda done: sizes.append(done["encodedDataLength"]))
        page.goto(entry)
        page.wait_for_timeout(1000)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        show("first page", f"painted after {paint:.0f} ms, {sum(sizes) / 1000:.0f} KB")
        chromium.close()


def open_pages(
    child: ChildProcess, control_plane: ControlPlane, origin: str, browser: httpx.Client
) -> None:
    """What open pages cost, at rest and while what they show changes each second."""
    for page in LIVE:  # what is open was loaded, and its part of the console imported
        get(browser, origin + page)
    pages = itertools.cycle(LIVE)
    mark = browser.get(f"{origin}/extensions").text.split('data-mark="')[1].split('"')[0]
    shown: list[str] = []

    def listen(page: str) -> None:
        """A browser that shows a page, as live-worker.js does."""
        with (
            suppress(httpx.RemoteProtocolError, httpx.ConnectError),  # the console ends first
            httpx.Client(cookies=browser.cookies, trust_env=False, timeout=None) as own,
            own.stream("GET", f"{origin}/live", params={"page": f"{mark} {page}"}) as stream,
        ):
            shown.extend(page for line in stream.iter_lines() if line.startswith('data: {"url"'))

    for _ in range(OPEN):
        Thread(target=listen, args=(next(pages),), daemon=True).start()
    time.sleep(5)
    before = cpu_seconds(child)
    time.sleep(SECONDS)
    quiet = (cpu_seconds(child) - before) / SECONDS
    before = cpu_seconds(child)
    shown.clear()
    with control_plane.client() as client:
        for at in range(SECONDS):
            for name in CHANGED:
                client.patch(
                    f"/apis/olm.operatorframework.io/v1/clusterextensions/{name}",
                    json={"spec": {"source": {"catalog": {"version": f"{at}.0.0"}}}},
                    headers={"Content-Type": "application/merge-patch+json"},
                ).raise_for_status()
            time.sleep(1)
    busy = (cpu_seconds(child) - before) / SECONDS
    show(f"{OPEN} open pages", f"{quiet:.1%} of a core; with a change each second {busy:.1%}")
    show("shown each second", f"{len(shown) / OPEN / SECONDS:.2f} times by each page")


if __name__ == "__main__":
    main()
