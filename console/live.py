"""What lives on pages: server-sent events with pages whose objects have changed."""

import asyncio
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, unquote

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from console.changes import CONNECTION
from console.rendering import RENEWAL, page
from console.sessions import Session
from console.settings import is_open
from console.shown_pages import Made, Viewer, event, pack
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.preconditions import negotiate

STREAM = "/live"
SESSION = "session"
"""The event that says whose pages a stream has; pages that need a session wait for it."""
GZIP = "gzip"
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Of a gzip file, before what is deflated."""
RETRY = pack("retry: 1000\n\n")
"""Milliseconds after which browsers open a stream anew that was cut."""
HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"vary", b"accept-encoding"),
)

log = logging.getLogger(__name__)
router = APIRouter()


def is_stream(request: Request) -> bool:
    """Whether a browser listens."""
    return request.method == "GET" and request.scope["path"] == STREAM


async def stream(
    session: Session,
    lives: Callable[[], bool],
    app: Asgi,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Pages as they change, as `app` answers in this session, for as long as that lives.

    Each `page` of the query is one that the browser shows: its mark, a space, its address. There
    are as many streams as browsers, each open for hours and sent pages each second, so this
    stands before the application and has little of its own.
    """
    wanted = _wanted(scope)
    if not session.shown.has_room(wanted):
        text = "too many pages are open\n"
        refusal = PlainTextResponse(text, HTTPStatus.SERVICE_UNAVAILABLE)
        await refusal(scope, receive, send)
        return
    write = await _begin(scope, send)
    viewer = Viewer()
    viewer.put("", RETRY + event(SESSION, session.label))
    session.shown.show(viewer, wanted, partial(_make, session, app, scope))
    try:
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(_send(viewer, lives, write, send))
            while (await receive())["type"] != "http.disconnect":
                pass
            sending.cancel()
    finally:
        session.shown.leave(viewer)


def _wanted(scope: Scope) -> Mapping[str, str]:
    """The marks of the pages that are wanted, by their addresses."""
    given = parse_qs(scope["query_string"].decode("latin-1")).get("page", [])
    marks = {url: mark for mark, _, url in (each.partition(" ") for each in given)}
    return {url: mark for url, mark in marks.items() if not is_open(_path(url))}


def _path(url: str) -> str:
    return unquote(url.partition("?")[0])


Write = Callable[[bytes], Any]
"""Sends what is packed."""


async def _begin(scope: Scope, send: Send) -> Write:
    """Sends the head of the answer; what sends the rest."""
    coding = negotiate(Headers(scope=scope).get("accept-encoding", ""), (GZIP,))
    deflated = coding == GZIP
    encoding = [(b"content-encoding", GZIP.encode())] if deflated else []
    headers = [*HEADERS, *encoding]
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
    if deflated:
        await send(_part(GZIP_HEAD))
        return lambda packed: send(_part(packed))
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    return lambda packed: send(_part(inflating.decompress(packed)))


def _part(body: bytes, *, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _send(viewer: Viewer, lives: Callable[[], bool], write: Write, send: Send) -> None:
    """Sends what there is to send until the session is over, or the console ends."""
    while not viewer.ended and lives():
        await write(viewer.take())
        await viewer.wait()
    await send(_part(b"", more=False))


async def _make(session: Session, app: Asgi, scope: Scope, url: str) -> Made:
    """The page of an address as who looks would get it now."""
    path, _, query = url.partition("?")
    headers = [each for each in scope["headers"] if each[0] == b"host"]
    state: dict[str, Any] = {"session": session, "user": session.user}
    asked = {
        **scope,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [*headers, *RENEWAL],
        "state": state,
    }
    sent: list[MutableMapping[str, Any]] = []

    async def record(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    try:
        await app(asked, _nothing, record)
    except Exception:  # as the server does, which is not asked here
        log.exception("%s could not be made", path)
    if not sent:
        return Made(HTTPStatus.INTERNAL_SERVER_ERROR, "", frozenset())
    return Made(sent[0]["status"], _html(sent), frozenset(state.get("live", ())))


async def _nothing() -> MutableMapping[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def _html(sent: Iterable[MutableMapping[str, Any]]) -> str:
    return b"".join(each.get("body", b"") for each in sent).decode(errors="replace")


@router.get("/connection")
async def connection(request: Request) -> Response:
    """What all pages say while the API server is away; nothing while it is there."""
    return page(request, "connection.html", live=(CONNECTION,))
