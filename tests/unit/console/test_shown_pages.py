"""Pages that browsers show: each is made once for all, and sent when it is another."""

import asyncio
import json
import zlib
from collections.abc import Mapping

import pytest

from console import shown_pages
from console.changes import Changes
from console.shown_pages import Made, ShownPages, Viewer, pack
from tests.unit.console.test_changes import reported


class Pages:
    """An application whose pages say how often it was asked for any."""

    def __init__(self, status: int = 200, live: str = "Pod") -> None:
        self.asked: list[str] = []
        self.status = status
        self.live = frozenset(live.split())
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, url: str) -> Made:
        self.asked.append(url)
        html = f"{url} {len(self.asked)}"
        await self.gate.wait()
        return Made(self.status, html, self.live)


class Shown:
    """The pages of a session, and its browsers."""

    def __init__(self, pages: Pages, quiet: float = 60) -> None:
        self.pages, self.changes = pages, Changes()
        self.looks = 0
        self.shown = ShownPages(self.changes, self._look, quiet)

    def _look(self) -> None:
        self.looks += 1

    def open(self, *urls: str, mark: str | None = None) -> Viewer:
        viewer = Viewer()
        since = self.changes.mark if mark is None else mark
        self.shown.show(viewer, dict.fromkeys(urls, since), self.pages)
        return viewer

    async def change(self, kind: str) -> None:
        self.changes.note(kind)
        await reported(self.changes)


def sent(packed: bytes) -> Mapping[str, str]:
    """The pages in what was sent, by their addresses."""
    text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed).decode()
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    return {each["url"]: each["html"] for each in map(json.loads, data)}


async def got(viewer: Viewer) -> Mapping[str, str]:
    """What a browser is sent next."""
    async with asyncio.timeout(60):
        await viewer.wait()
    return sent(viewer.take())


async def settle() -> None:
    """Lets all go on that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_page_is_made_once_for_all_browsers_that_show_it() -> None:
    shown = Shown(Pages())
    viewers = [shown.open("/a") for _ in range(3)]
    await shown.change("Pod")
    assert [await got(each) for each in viewers] == [{"/a": "/a 1"}] * 3
    await shown.change("Pod")
    assert [await got(each) for each in viewers] == [{"/a": "/a 2"}] * 3
    assert shown.pages.asked == ["/a"] * 2


async def test_what_a_page_does_not_show_does_not_make_it_anew() -> None:
    shown = Shown(Pages())
    viewer = shown.open("/a")
    await shown.change("Job")
    assert await got(viewer) == {"/a": "/a 1"}, "what it shows is known once it was made"
    await shown.change("Job")
    await settle()
    assert shown.pages.asked == ["/a"]


async def test_a_browser_is_sent_what_changed_since_it_got_its_page() -> None:
    shown = Shown(Pages())
    old = shown.changes.mark
    await shown.change("Pod")
    first = shown.open("/a")
    await settle()
    assert not shown.pages.asked, "it has all that changed"
    late = shown.open("/a", mark=old)
    assert [await got(each) for each in (late, first)] == [{"/a": "/a 1"}] * 2
    assert await got(shown.open("/a", mark=old)) == {"/a": "/a 1"}
    assert await got(shown.open("/a", mark="another-9")) == {"/a": "/a 1"}
    assert shown.pages.asked == ["/a"]


async def test_what_changes_while_a_page_is_made_makes_it_once_more() -> None:
    shown = Shown(Pages())
    viewer = shown.open("/a")
    shown.pages.gate.clear()
    await shown.change("Pod")
    await settle()
    await shown.change("Pod")
    shown.pages.gate.set()
    await settle()
    assert shown.pages.asked == ["/a"] * 2
    assert await got(viewer) == {"/a": "/a 2"}, "the newest, and no older one"


async def test_a_page_that_takes_long_does_not_hold_up_others() -> None:
    shown = Shown(Pages())
    slow = Pages()
    slow.gate.clear()
    viewer, quick = shown.open("/quick"), Viewer()
    shown.shown.show(quick, {"/slow": shown.changes.mark, "/quick": shown.changes.mark}, slow)
    await shown.change("Pod")
    assert await got(quick) == await got(viewer) == {"/quick": "/quick 1"}
    slow.gate.set()
    assert await got(quick) == {"/slow": "/slow 1"}


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_what_failed_is_made_again_at_any_change(status: int) -> None:
    shown = Shown(Pages(status, live=""))
    viewer = shown.open("/a")
    for number in (1, 2, 3):
        await shown.change("Job")
        assert await got(viewer) == {"/a": f"/a {number}"}


async def test_a_page_of_which_nothing_lives_is_not_made_again() -> None:
    shown = Shown(Pages(live=""))
    viewer = shown.open("/a")
    await shown.change("Pod")
    assert await got(viewer) == {"/a": "/a 1"}
    await shown.change("Pod")
    await settle()
    assert shown.pages.asked == ["/a"]


async def test_nothing_is_made_for_browsers_that_have_left() -> None:
    shown = Shown(Pages())
    viewers = [shown.open("/a") for _ in range(2)]
    shown.shown.leave(viewers[0])
    await shown.change("Pod")
    assert await got(viewers[1]) == {"/a": "/a 1"}
    assert not viewers[0].take()
    shown.pages.gate.clear()
    await shown.change("Pod")
    await settle()
    shown.shown.leave(viewers[1])
    await settle()
    await shown.change("Pod")
    assert shown.pages.asked == ["/a"] * 2
    assert shown.changes.streams == 0


async def test_quiet_browsers_are_sent_that_there_is_nothing() -> None:
    shown = Shown(Pages(), quiet=0.01)
    viewer = shown.open("/a")
    await viewer.wait()
    text = zlib.decompressobj(-zlib.MAX_WBITS).decompress(viewer.take())
    assert text == b"event: nothing\ndata: \n\n"
    assert shown.looks == 1
    shown.shown.leave(viewer)


async def test_all_streams_end_with_the_changes() -> None:
    shown = Shown(Pages())
    viewer = shown.open("/a")
    shown.changes.end()
    await viewer.wait()
    assert viewer.ended


async def test_so_many_pages_are_shown_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown(Pages())
    monkeypatch.setattr(shown_pages, "MAX_PAGES", 2)
    shown.open("/a", "/b")
    assert shown.shown.has_room(["/a"])
    assert not shown.shown.has_room(["/c"])
    monkeypatch.setattr("console.changes.MAX_STREAMS", 1)
    assert not shown.shown.has_room(["/a"])


def test_parts_are_packed_each_by_itself_and_read_as_one() -> None:
    texts = ["", "one <a>", "one <a>", "é" * 5000]
    parts = [pack(each) for each in texts]
    for order in (parts, parts[::-1]):
        read = zlib.decompressobj(-zlib.MAX_WBITS).decompress(b"".join(order)).decode()
        assert read == "".join(texts if order is parts else texts[::-1])
