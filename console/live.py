"""What lives on pages: server-sent events with the kinds whose objects changed."""

import asyncio
from collections.abc import MutableMapping
from contextlib import aclosing
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from console.rendering import page
from console.users import User
from olm_runtime.http.asgi import Receive, Scope, Send

STREAM = "/live"
LOOKING = "look"
RETRY = b"retry: 1000\n\n"
"""Milliseconds after which browsers open a stream anew that was cut."""
HEADERS = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"))

router = APIRouter()


def is_stream(request: Request) -> bool:
    """Whether a browser listens."""
    return request.method == "GET" and request.scope["path"] == STREAM


async def stream(user: User, scope: Scope, receive: Receive, send: Send) -> None:
    """An event `changed` for what changed since the page was made, and on; data are kinds.

    `since` of the query is the mark of the page. There are as many streams as browsers, each open
    for hours and told each second, so this stands before the application and has little of its own.
    """
    if user.changes.full:
        text = "too many pages are open\n"
        refusal = PlainTextResponse(text, HTTPStatus.SERVICE_UNAVAILABLE)
        await refusal(scope, receive, send)
        return
    mark = parse_qs(scope["query_string"].decode("latin-1")).get("since", [""])[0]
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": HEADERS})
    async with asyncio.TaskGroup() as group:
        telling = group.create_task(_tell(user, mark, send))
        while (await receive())["type"] != "http.disconnect":
            pass
        telling.cancel()


async def _tell(user: User, mark: str, send: Send) -> None:
    await send(_part(RETRY))
    async with aclosing(user.changes.since(mark)) as told:
        async for kinds in told:
            await send(_part(_event(user.changes.told_mark, kinds)))
            if not kinds:
                user.works.begin(LOOKING, user.look)
    await send({"type": "http.response.body"})


@lru_cache(maxsize=16)  # many are told the same at once
def _event(mark: str, kinds: frozenset[str]) -> bytes:
    return f"event: changed\nid: {mark}\ndata: {' '.join(sorted(kinds))}\n\n".encode()


def _part(body: bytes) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


@router.get("/connection")
async def connection(request: Request) -> Response:
    """What all pages say while the API server is away; nothing while it is there."""
    return page(request, "connection.html")
