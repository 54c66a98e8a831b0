"""Pages that are imported as they are first asked for."""

import asyncio
from http import HTTPStatus

import httpx

from console.late_pages import LATE_PAGES


async def test_pages_are_there_for_all_who_ask_for_them_first(browser: httpx.AsyncClient) -> None:
    await browser.get("/enter", params={"key": browser.headers.pop("Key")})
    paths = [f"{start.rstrip('/')}/name" for start in LATE_PAGES if start.endswith("/")]
    asked = [*paths, "/doctor", "/classic", "/cluster", "/catalogs"] * 3
    answers = await asyncio.gather(*map(browser.get, asked))
    there = (HTTPStatus.OK, HTTPStatus.BAD_GATEWAY)
    others = [each for each in answers if each.status_code not in there]
    assert [(each.url.path, each.status_code, each.text) for each in others] == []


async def test_what_begins_like_a_late_page_and_is_none_is_not_found(
    browser: httpx.AsyncClient,
) -> None:
    await browser.get("/enter", params={"key": browser.headers.pop("Key")})
    answer = await browser.get("/doctors/name")
    assert answer.status_code == HTTPStatus.NOT_FOUND
