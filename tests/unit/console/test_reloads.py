"""Pages that get themselves anew: one answer for many, and none that is too old."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from console.changes import Changes
from console.reloads import Reloads


class Pages:
    """An application that counts what it is asked for."""

    def __init__(self, status: int = 200) -> None:
        self.asked: list[str] = []
        self.status = status

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        body = f"{scope['path']} {len(self.asked)}".encode()
        await send({"type": "http.response.body", "body": body})


async def got(reloads: Reloads, pages: Pages, changes: Changes, path: str = "/a") -> str:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("nothing is read")

    scope = {"path": path, "query_string": b"", "headers": []}
    await reloads.serve(pages, changes, scope, receive, send)
    assert sent[0]["status"] == pages.status
    body: bytes = sent[1]["body"]
    return body.decode()


async def told(changes: Changes) -> None:
    """Waits until all that changed was told."""
    async for kinds in changes.since(changes.told_mark):
        assert kinds
        return


async def test_all_tabs_of_a_session_get_one_answer_until_something_else_changed() -> None:
    reloads, pages, changes = Reloads(), Pages(), Changes()
    answers = await asyncio.gather(*(got(reloads, pages, changes) for _ in range(5)))
    assert answers == ["/a 1"] * 5
    assert await got(reloads, pages, changes, "/b") == "/b 2"
    changes.note("Pod")
    assert await got(reloads, pages, changes) == "/a 1", "nobody was told of it yet"
    await told(changes)
    assert await got(reloads, pages, changes) == "/a 3"
    assert pages.asked == ["/a", "/b", "/a"]


async def test_an_answer_that_was_begun_before_a_change_does_not_count_after_it() -> None:
    reloads, pages, changes = Reloads(), Pages(), Changes()
    changes.note("Pod")
    await told(changes)
    assert await got(reloads, pages, changes) == "/a 1"
    changes.note("Pod")
    begun_after = await got(reloads, pages, changes, "/b")
    await told(changes)
    assert await got(reloads, pages, changes, "/b") == begun_after, "it has the change already"
    assert await got(reloads, pages, changes) == "/a 3"


async def test_what_failed_is_tried_anew() -> None:
    reloads, pages, changes = Reloads(), Pages(502), Changes()
    assert await got(reloads, pages, changes) == "/a 1"
    assert await got(reloads, pages, changes) == "/a 2"


async def test_so_many_different_pages_are_held_and_no_more() -> None:
    reloads, pages, changes = Reloads(), Pages(), Changes()
    for number in range(40):
        assert await got(reloads, pages, changes, f"/{number}") == f"/{number} {number + 1}"
    assert await got(reloads, pages, changes, "/0") == "/0 1"
    assert await got(reloads, pages, changes, "/39") == "/39 41"
