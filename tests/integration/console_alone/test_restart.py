"""Open pages while the API server is restarted, the console is not reached, and answers fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, Route, expect

from console.app import console_app
from console.local import LOOPBACK, entry, entry_routes
from console.sessions import KeySessions
from console.settings import Place
from console.users import User
from e2e.harness.controlplane import ControlPlane
from e2e.harness.ports import free_port
from e2e.olm.browser import local_console
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.http.server import listen, serve
from tests.integration.console.visits import add_catalog
from tests.integration.console_alone.loop import IN_LOOP_OF_BROWSER
from tests.integration.console_alone.way import Way

pytestmark = [pytest.mark.integration, IN_LOOP_OF_BROWSER]

KIND = "/apis/olm.operatorframework.io/v1/clustercatalogs"
AWAY = "Not connected to the API server"
NOT_REACHED = "Not connected to the console"
ALONE = "delete window.SharedWorker"
"""What some browsers do not have."""
OPEN = ("/", "/doctor", "/catalogs/before", "/catalogs/before/remove", "/nowhere")
"""Of those some are watched, and some ask each time."""
SOON_MILLISECONDS = 30_000
"""A second is usual; machines of tests are busy."""


@asynccontextmanager
async def _console(control_plane: ControlPlane) -> AsyncIterator[tuple[Way, list[str]]]:
    """The way to it, and addresses that let in, the newest last."""
    listener, port = listen((LOOPBACK, 0)), free_port()
    place = Place(frozenset({f"{LOOPBACK}:{port}"}), secure=False, cookie="console")
    user = User.connect("you", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    entries: list[str] = []
    sessions = KeySessions(user, lambda key: entries.append(entry(place, key)))
    sessions.offer()
    app = console_app(place, sessions, entry_routes(place, sessions))
    serving = asyncio.create_task(serve(app, listener, None, user.changes.end))
    way = Way(port, listener.getsockname()[1])
    await way.open()
    try:
        yield way, entries
    finally:
        await way.cut()
        serving.cancel()
        await asyncio.wait([serving])
        await user.close()


async def _catalogs(browser: Browser, entries: list[str], script: str = "") -> Page:
    """The page of catalogs, in a browser of its own."""
    context = await browser.new_context()
    await context.add_init_script(script)
    page = await context.new_page()
    await page.goto(entries[-1])
    await page.get_by_role("link", name="Catalogs", exact=True).first.click()
    await expect(page.get_by_role("heading", name="Catalogs", exact=True)).to_be_visible()
    return page


async def test_pages_say_so_and_go_on_by_themselves(
    control_plane: ControlPlane, browser: Browser
) -> None:
    async with local_console(control_plane) as address:
        context = await browser.new_context()
        page = await context.new_page()
        await page.goto(address)
        await page.get_by_role("link", name="Catalogs", exact=True).first.click()
        await asyncio.to_thread(add_catalog, control_plane, "before")
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
        await asyncio.to_thread(add_catalog, control_plane, "later")
        await asyncio.to_thread(add_catalog, control_plane, "after")
        await expect(page.get_by_role("link", name="after")).to_be_visible(
            timeout=SOON_MILLISECONDS
        )
        await expect(late.get_by_role("heading", name="later")).to_be_visible()
        for each in context.pages:
            await expect(each.get_by_text(AWAY)).to_be_hidden()
        assert await page.evaluate("document.body.dataset.same") == "page", "it was not reloaded"


async def test_pages_say_while_the_console_is_not_reached(
    control_plane: ControlPlane, browser: Browser
) -> None:
    async with _console(control_plane) as (way, entries):
        pages = [await _catalogs(browser, entries, script) for script in ("", ALONE)]
        await asyncio.to_thread(add_catalog, control_plane, "reached")
        for page in pages:
            await expect(page.get_by_role("link", name="reached")).to_be_visible()
        static = await pages[0].context.new_page()
        await static.goto(f"{pages[0].url}/reached/remove")
        await way.cut()
        for page in (*pages, static):
            await expect(page.get_by_text(NOT_REACHED)).to_be_visible()
        assert not (await Axe().run(pages[0])).violations_count
        await asyncio.to_thread(add_catalog, control_plane, "meanwhile")
        await way.open()
        for page in pages:
            shown = page.get_by_role("link", name="meanwhile")
            await expect(shown).to_be_visible()
        for page in (*pages, static):
            await expect(page.get_by_text(NOT_REACHED)).to_be_hidden()
        cookies = await pages[0].context.cookies()
        await pages[0].context.clear_cookies()
        await way.cut()
        await expect(pages[0].get_by_text(NOT_REACHED)).to_be_visible()
        await way.open()
        signed_out = pages[0].get_by_role("heading", name="You are not signed in")
        await expect(signed_out).to_be_visible()
        await pages[0].context.add_cookies(cast("Any", cookies))
        await (await pages[0].context.new_page()).goto(pages[0].url)
        shown = pages[0].get_by_role("link", name="meanwhile")
        await expect(shown).to_be_visible()


SEE = """isHidden => {
  Object.defineProperty(document, "hidden", {value: isHidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


async def test_a_page_that_nobody_sees_is_sent_nothing_until_somebody_does(
    control_plane: ControlPlane, browser: Browser
) -> None:
    async with _console(control_plane) as (_, entries):
        page = await _catalogs(browser, entries)
        streams: list[str] = []
        other = await page.context.new_page()
        page.context.on("request", lambda asked: streams.append(asked.url))
        await page.evaluate(SEE, True)
        await other.goto(f"{page.url}?other")
        await asyncio.to_thread(add_catalog, control_plane, "unseen")
        await expect(other.get_by_role("link", name="unseen")).to_be_visible()
        await expect(page.get_by_role("link", name="unseen")).to_be_hidden()
        streams.clear()
        await page.evaluate(SEE, False)
        await expect(page.get_by_role("link", name="unseen")).to_be_visible()
        assert not [each for each in streams if each.endswith("/catalogs")], "it was sent"


ASK = "renew()"
"""What a page does where the console was not reached, or has failed."""


class Gates:
    """Holds answers to a page that asks for itself, with what they show, until each is let go."""

    def __init__(self) -> None:
        self.held: asyncio.Queue[asyncio.Event] = asyncio.Queue()
        self.asked = 0

    async def __call__(self, route: Route) -> None:
        self.asked += 1
        answer = await route.fetch()
        gate = asyncio.Event()
        await self.held.put(gate)
        await gate.wait()
        await route.fulfill(response=answer)


async def test_an_older_answer_does_not_follow_a_newer_one(
    control_plane: ControlPlane, browser: Browser
) -> None:
    async with _console(control_plane) as (_, entries):
        page = await _catalogs(browser, entries)
        other = await page.context.new_page()
        await other.goto(page.url)
        gates = Gates()
        await page.route("**/catalogs", gates)

        async def add_and_show(name: str) -> None:
            await asyncio.to_thread(add_catalog, control_plane, name)
            await expect(other.get_by_role("link", name=name)).to_be_visible()

        await page.evaluate(ASK)
        first = await gates.held.get()
        await add_and_show("first")
        first.set()
        second = await gates.held.get()
        await add_and_show("second")
        await page.evaluate(ASK)
        assert gates.asked == 2, "one at a time"
        second.set()
        (await gates.held.get()).set()
        for name in ("first", "second"):
            await expect(page.get_by_role("link", name=name)).to_be_visible()
        await add_and_show("third")
        await expect(page.get_by_role("link", name="third")).to_be_visible()
        assert gates.asked == 3, "it is sent what is new"
        await page.unroute_all(behavior="wait")


async def test_a_page_asks_again_where_an_answer_failed_and_says_what_is_gone_until_it_is_back(
    control_plane: ControlPlane, browser: Browser
) -> None:
    failures = [lambda route: route.fulfill(status=503), lambda route: route.abort()]

    async def fail(route: Route) -> None:
        await (failures.pop()(route) if failures else route.continue_())

    async with _console(control_plane) as (_, entries):
        page = await _catalogs(browser, entries)
        await page.route("**/catalogs", fail)
        async with page.expect_response(lambda answer: answer.ok):
            await page.evaluate(ASK)
        assert not failures
        await asyncio.to_thread(add_catalog, control_plane, "failing")
        link = page.get_by_role("link", name="failing")
        await link.click()
        await expect(page.get_by_role("heading", name="failing")).to_be_visible()
        with control_plane.client() as client:
            client.delete(f"{KIND}/failing").raise_for_status()
        gone = page.get_by_role("heading", name='"failing" not found')
        await expect(gone).to_be_visible()
        await asyncio.to_thread(add_catalog, control_plane, "failing")
        await expect(gone).to_be_hidden()
        await expect(page.get_by_role("link", name="Remove …")).to_be_visible()
