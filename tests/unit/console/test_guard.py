"""What is refused before any page, and what all answers have."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
from fastapi import APIRouter

from console.app import console_app
from console.guard import MAX_BODY_BYTES
from console.local import LOOPBACK
from console.sessions import KeySessions
from console.settings import HEADERS, Place
from console.users import User
from olm_runtime.http.server import listen, serve
from tests.unit.console.visitors import HOST, ORIGIN

PATHS = ("/", "/catalogs", "/live", "/nothing", "/enter", "/static/console.css", "/static/nothing")


async def _enter(browser: httpx.AsyncClient) -> str:
    """Signs in; a token of the session's pages."""
    entered = await browser.get("/enter", params={"key": browser.headers.pop("Key")})
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    return (await browser.get("/nothing")).text.split('X-CSRF-Token": "')[1].split('"')[0]


async def test_a_key_enters_once_with_a_cookie_for_us_alone(browser: httpx.AsyncClient) -> None:
    key = browser.headers["Key"]
    entered = await browser.get("/enter", params={"key": key})
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "domain" not in cookie
    browser.cookies.clear()
    for again in (key, "", "ä", "0" * 43):
        assert (await browser.get("/enter", params={"key": again})).status_code == 401
    browser.cookies.set("olm-console", key)
    assert (await browser.get("/")).status_code == 401


@pytest.mark.parametrize("path", [*PATHS, "/fault"])
async def test_every_answer_has_the_headers(browser: httpx.AsyncClient, path: str) -> None:
    if path == "/fault":
        await _enter(browser)
    answer = await browser.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:8898", "127.0.0.1:8899.evil.example",
     "evil.example:8899", "127.0.0.1:8899@evil.example", "[::1]:8899", ""],
)  # fmt: skip
async def test_other_names_of_the_address_are_refused(
    browser: httpx.AsyncClient, host: str
) -> None:
    assert (await browser.get("/static/console.css", headers={"Host": host})).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8899", "http://127.0.0.1:8898",
     "http://127.0.0.1:8899.evil.example", "http://127.0.0.1", None],
)  # fmt: skip
async def test_forms_of_other_origins_are_refused(
    browser: httpx.AsyncClient, origin: str | None
) -> None:
    token = await _enter(browser)
    headers = {} if origin is None else {"Origin": origin}
    assert (await browser.post("/echo", data={"token": token}, headers=headers)).status_code == 403


async def test_forms_need_a_token_of_their_session(browser: httpx.AsyncClient) -> None:
    token = await _enter(browser)
    other = (await browser.get("/nothing")).text.split('X-CSRF-Token": "')[1].split('"')[0]
    assert other != token, "a text that stays the same can be guessed by lengths"
    for each in (token, other):
        taken = await browser.post("/echo", data={"token": each}, headers=ORIGIN)
        assert taken.status_code == 200
    for each in ("", "0" * 128, token[:-2], token[:64], "zz", "ä", token + "00", token[64:] * 2):
        refused = await browser.post("/echo", data={"token": each}, headers=ORIGIN)
        assert refused.status_code == 403, each
    browser.cookies.clear()
    signed_out = await browser.post("/echo", data={"token": token}, headers=ORIGIN)
    assert signed_out.status_code == 401


async def test_a_body_has_a_limit(browser: httpx.AsyncClient) -> None:
    token = await _enter(browser)
    form = {"token": token, "more": "x" * MAX_BODY_BYTES}
    assert (await browser.post("/echo", data=form, headers=ORIGIN)).status_code == 413


@pytest.mark.parametrize("path", ["/enterprise", "/sign-in/more", "/healthzz", "/STATIC/a", "//"])
async def test_paths_like_open_ones_are_not_open(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.get(f"http://{HOST}{path}")).status_code == 401


@pytest.mark.parametrize(
    "path",
    ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "..%5capp.py", "vendor/../../app.py",
     "%2fetc/passwd", "vendor", "vendor/", "", "console.css%00"],
)  # fmt: skip
async def test_no_other_files_are_given(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(f"http://{HOST}/static/{path}")
    assert answer.status_code in {401, 404}
    assert "console_app" not in answer.text


async def test_static_files_are_cached_by_browsers(browser: httpx.AsyncClient) -> None:
    page = (await browser.get("/")).text
    address = next(each for each in page.split('"') if each.startswith("/static/console.css"))
    full = await browser.get(address, headers={"Accept-Encoding": "gzip"})
    assert "immutable" in full.headers["cache-control"]
    assert full.headers["content-encoding"] == "gzip"
    unnamed = await browser.get(
        "/static/console.css",
        headers={"If-None-Match": full.headers["etag"], "Accept-Encoding": "gzip"},
    )
    assert (unnamed.status_code, unnamed.headers["cache-control"]) == (304, "no-cache")


async def _stopped_while_open(user: User, read: Callable[[str], None]) -> None:
    listener = listen((LOOPBACK, 0))
    place = Place(frozenset({f"{LOOPBACK}:{listener.getsockname()[1]}"}), False, "c")
    keys: list[str] = []
    sessions = KeySessions(user, keys.append)
    sessions.offer()
    session = sessions.enter(keys[0])
    assert session is not None
    app = console_app(place, sessions, APIRouter())
    serving = asyncio.create_task(serve(app, listener, None, user.changes.end))
    address = f"http://{min(place.hosts)}/live?page={user.changes.mark}+/"
    async with (
        httpx.AsyncClient(cookies={"c": session.id}) as client,
        client.stream("GET", address) as stream,
    ):
        lines = stream.aiter_lines()
        read(await anext(lines))
        serving.cancel()
        async for each in lines:
            read(each)
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_open_streams_end_when_the_console_stops(user: User) -> None:
    lines: list[str] = []
    async with asyncio.timeout(25):  # less than what answers in flight are given
        await _stopped_while_open(user, lines.append)
    assert lines[0] == "retry: 1000"
