"""The stream of pages, as a browser is sent it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from console.app import console_app
from console.identities import Credential, IdentitySessions
from console.local import LOOPBACK
from console.sessions import Session
from console.settings import HEADERS, Place
from console.users import User
from olm_runtime.http.server import listen, serve

CODINGS = ["gzip", "identity"]


@dataclass
class Running:
    """A console, and a browser that has signed in."""

    browser: httpx.AsyncClient
    sessions: IdentitySessions
    session: Session


@pytest.fixture
async def running(user: User) -> AsyncIterator[Running]:
    listener = listen((LOOPBACK, 0))
    host = f"{LOOPBACK}:{listener.getsockname()[1]}"
    place, sessions = Place(frozenset({host}), secure=False, cookie="c"), IdentitySessions()
    session = sessions.begin(Credential("a"), user)
    serving = asyncio.create_task(
        serve(console_app(place, sessions, APIRouter()), listener, None, sessions.stop)
    )
    cookies = {"c": session.id}
    async with httpx.AsyncClient(base_url=f"http://{host}", cookies=cookies, timeout=10) as browser:
        yield Running(browser, sessions, session)
    serving.cancel()
    await asyncio.wait([serving])
    await sessions.close()


@asynccontextmanager
async def streamed(running: Running, *pages: str, coding: str = "gzip") -> AsyncIterator[Any]:
    """The data of events, after that with the session."""
    asked = {"page": list(pages)}
    headers = {"Accept-Encoding": coding}
    async with running.browser.stream("GET", "/live", params=asked, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers.get("content-encoding", "identity") == coding
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        lines = answer.aiter_lines()
        data = (line.removeprefix("data: ") async for line in lines if line.startswith("data: "))
        assert await anext(data) == running.session.label
        yield data


async def page_of(data: Any) -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(await anext(data))
    return found


@pytest.mark.parametrize("coding", CODINGS)
async def test_a_page_is_sent_as_whoever_looks_would_get_it(running: Running, coding: str) -> None:
    whole = await running.browser.get("/nowhere?a=b%20c")
    async with streamed(running, "another /nowhere?a=b%20c", coding=coding) as data:
        sent = await page_of(data)
        running.session.user.changes.note("Pod")
        again = await page_of(data)
    assert (sent["status"], sent["url"]) == (404, "/nowhere?a=b%20c")
    title, _, content = sent["html"].strip().partition("\n")
    assert title in whole.text
    assert content == whole.text[whole.text.index("<main") : whole.text.index("</main>") + 7]
    assert again["mark"] != sent["mark"]


@pytest.mark.parametrize("path", ["/enter?key=a", "/sign-in", "/static/live.js", "%2Fenter?key=a"])
async def test_what_is_for_everybody_is_no_page(running: Running, path: str) -> None:
    async with streamed(running, f"another {path}", "another /nowhere") as data:
        assert (await page_of(data))["url"] == "/nowhere"
        running.session.user.changes.note("Pod")
        assert (await page_of(data))["url"] == "/nowhere"


async def test_a_session_that_is_over_is_sent_nothing(running: Running, user: User) -> None:
    other = running.sessions.begin(Credential("a"), user)
    assert other.user is user
    async with streamed(running, "another /nowhere") as data:
        await page_of(data)
        await running.sessions.end(running.session)
        assert not user.changes.ended, "the other session goes on"
        user.changes.note("Pod")
        assert [each async for each in data] == []
    assert (await running.browser.get("/live", params={"page": "x /"})).status_code == 401


async def test_a_fault_of_a_page_ends_no_stream(
    running: Running, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fault(*_: Any) -> None:
        raise ValueError("a fault")

    async with streamed(running, "another /nowhere") as data:
        await page_of(data)
        with monkeypatch.context() as patched:
            patched.setattr("console.guard._with_parts", fault)
            running.session.user.changes.note("Pod")
            assert (await page_of(data))["status"] == 500
        running.session.user.changes.note("Pod")
        assert (await page_of(data))["status"] == 404
    assert "a fault" in caplog.text
