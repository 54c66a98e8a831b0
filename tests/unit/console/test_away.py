"""What pages say while the API server is away."""

import re
from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute

from console.app import PAGES
from console.late_pages import LATE_PAGES, late_routers
from console.users import User
from tests.unit.console.visitors import ORIGIN

AWAY = "Not connected to the API server"
ASKED = "from=1&to=1&examine=yes&preview=yes"


def _paths() -> Iterator[str]:
    """Of all that can be read."""
    late = (router for start in LATE_PAGES for router in late_routers(start))
    for router in (*(each.router for each in PAGES), *late):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            if "GET" in (route.methods or ()):
                yield re.sub(r"{[^}]*}", "name", route.path)


@pytest.mark.parametrize("path", sorted(_paths()))
async def test_all_pages_say_so_in_the_same_words(browser: httpx.AsyncClient, path: str) -> None:
    await browser.get("/enter", params={"key": browser.headers.pop("Key")})
    answer = await browser.get(f"{path}?{ASKED}")
    assert answer.text.count(AWAY) == 1
    assert "Not allowed to you" not in answer.text, "nobody knows"
    assert "you may not" not in answer.text


async def test_a_form_that_was_sent_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    await browser.get("/enter", params={"key": browser.headers.pop("Key")})
    token = (await browser.get("/nothing")).text.split('X-CSRF-Token": "')[1].split('"')[0]
    headers = ORIGIN | {"X-CSRF-Token": token}
    answer = await browser.post("/extensions/name/resume", headers=headers)
    assert answer.text.count(AWAY) == 1
    assert "not known whether that was done" in answer.text
    assert "every 5s" not in answer.text


async def test_who_watches_nothing_is_notified_by_looking(user: User) -> None:
    assert not user.away
    before = user.changes.mark
    await user.look()
    assert user.away
    first = user.changes.mark
    assert first != before
    await user.look()
    assert user.changes.mark == first, "it is reported once"
