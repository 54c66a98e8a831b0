"""The pages that the browsers of a session show, made anew when what they show has changed.

A page is made once for all browsers that show it, by the application itself: with the session, and
so with the rights, of who looks.
"""

import asyncio
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from console.changes import ANY, Changes

MAX_PAGES = 256
"""Different pages that the browsers of a session may show at once."""
COMPRESSION = 5
_ALL = frozenset({ANY})

QUIET_SECONDS = 20.0
"""Browsers are sent something at least so often: many proxies cut at half a minute."""


@dataclass(frozen=True, slots=True)
class Made:
    """What the application answers; `live` are the kinds whose changes make it old."""

    status: int
    html: str
    live: frozenset[str]


Make = Callable[[str], Awaitable[Made]]
"""Makes the page of an address."""


def event(name: str, data: str) -> bytes:
    """A server-sent event of one line of data, packed."""
    return pack(f"event: {name}\ndata: {data}\n\n")


def pack(text: str) -> bytes:
    """Text as a part of a deflated stream, which may follow upon any other such part.

    So what many browsers are sent is compressed once.
    """
    deflating = zlib.compressobj(COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflating.compress(text.encode()) + deflating.flush(zlib.Z_FULL_FLUSH)


NOTHING = event("nothing", "")


class Viewer:
    """A browser's stream: `wait` until there is something to send, which `take` then gives."""

    def __init__(self) -> None:
        self.ended = False
        self._due: dict[str, bytes] = {}
        self._woken = asyncio.Event()

    def put(self, name: str, packed: bytes) -> None:
        """Has something sent; of each name the newest is sent, however slowly the browser reads."""
        self._due[name] = packed
        self._woken.set()

    def end(self) -> None:
        """Has nothing more sent."""
        self.ended = True
        self._woken.set()

    async def wait(self) -> None:
        """Until there is something to send, or the end."""
        await self._woken.wait()
        self._woken.clear()

    def take(self) -> bytes:
        """What is to be sent, packed."""
        due, self._due = self._due, {}
        return b"".join(due.values())


@dataclass(slots=True, eq=False)
class _Page:
    """One page.

    number  how many changes there were when what browsers show was made
    live    the kinds that make it old; any, as long as it was not made
    packed  the event that has it; empty before it was made
    """

    url: str
    make: Make
    number: int
    live: frozenset[str] = _ALL
    packed: bytes = b""
    viewers: set[Viewer] = field(default_factory=set)
    making: asyncio.Task[None] | None = None

    def take(self, made: Made, mark: str) -> None:
        """Has it sent as it was made. What failed is made again at any change."""
        self.live = made.live if made.status == HTTPStatus.OK else made.live or _ALL
        answer = {"url": self.url, "mark": mark, "status": made.status, "html": made.html}
        self.packed = event("page", json.dumps(answer, ensure_ascii=False))
        for each in self.viewers:
            each.put(self.url, self.packed)


class ShownPages:
    """The pages of a session. `look` is called now and then while a browser shows one."""

    def __init__(
        self, changes: Changes, look: Callable[[], object], quiet: float = QUIET_SECONDS
    ) -> None:
        self._changes = changes
        self._look = look
        self._quiet = quiet
        self._pages: dict[str, _Page] = {}
        self._viewers: set[Viewer] = set()
        self._beat: asyncio.TimerHandle | None = None

    def has_room(self, wanted: Iterable[str]) -> bool:
        """Whether one more browser may show these pages."""
        return not self._changes.full and len(self._pages.keys() | set(wanted)) <= MAX_PAGES

    def show(self, viewer: Viewer, wanted: Mapping[str, str], make: Make) -> None:
        """Sends a browser pages whenever they are others than it has; it has them as of marks."""
        self._changes.streams += 1
        self._changes.shown.set()
        self._viewers.add(viewer)
        if self._beat is None:
            self._changes.subscribe(self._on_changes)
            self._wait()
        for url, mark in wanted.items():
            number = self._changes.number(mark)
            page = self._pages.setdefault(url, _Page(url, make, number))
            page.viewers.add(viewer)
            if self._changes.since(number, page.live):
                self._catch_up(page, viewer)

    def leave(self, viewer: Viewer) -> None:
        """It shows nothing any more."""
        self._changes.streams -= 1
        self._viewers.discard(viewer)
        for page in list(self._pages.values()):
            page.viewers.discard(viewer)
            if not page.viewers:
                del self._pages[page.url]
                if page.making is not None:
                    page.making.cancel()
        if not self._viewers and self._beat is not None:
            self._changes.unsubscribe(self._on_changes)
            self._beat.cancel()
            self._beat = None

    def _wait(self) -> None:
        """Wakes all by one timer: one for each would be set anew at each change."""
        self._beat = asyncio.get_running_loop().call_later(self._quiet, self._say_nothing)

    def _say_nothing(self) -> None:
        for each in self._viewers:
            each.put("", NOTHING)
        self._look()
        self._wait()

    def _on_changes(self) -> None:
        if self._changes.ended:
            for each in self._viewers:
                each.end()
            return
        for page in self._pages.values():
            if self._is_old(page):
                self._begin(page)

    def _is_old(self, page: _Page) -> bool:
        return self._changes.since(page.number, page.live)

    def _catch_up(self, page: _Page, viewer: Viewer) -> None:
        if page.packed and not self._is_old(page):
            viewer.put(page.url, page.packed)
        else:
            self._begin(page)

    def _begin(self, page: _Page) -> None:
        if page.making is None:
            page.making = asyncio.create_task(self._make(page))

    async def _make(self, page: _Page) -> None:
        try:
            is_old = True
            while is_old:
                number = self._changes.count
                made = await page.make(page.url)
                page.number = number
                page.take(made, self._changes.mark_of(number))
                is_old = self._is_old(page)  # of what changed meanwhile
        finally:
            page.making = None
