"""What lives on pages: server-sent events with the kinds whose objects changed."""

from collections.abc import AsyncIterator
from http import HTTPStatus

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response, StreamingResponse

from console.asked import AskedBy
from console.rendering import page

QUIET_SECONDS = 20.0
"""After which a stream says that it is still there: many proxies cut at half a minute."""

router = APIRouter()


@router.get("/live")
async def live(user: AskedBy, since: str = "") -> StreamingResponse:
    """An event `changed` for what changed since the page was made, and on; data are kinds."""

    if user.changes.full:
        raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")

    async def events() -> AsyncIterator[bytes]:
        yield b"retry: 1000\n\n"
        async for kinds in user.changes.since(since, QUIET_SECONDS):
            if not kinds:
                await user.look()
            data = " ".join(sorted(kinds))
            yield f"event: changed\nid: {user.changes.told_mark}\ndata: {data}\n\n".encode()

    return StreamingResponse(events(), media_type="text/event-stream")


@router.get("/connection")
async def connection(request: Request) -> Response:
    """What all pages say while the API server is away; nothing while it is there."""
    return page(request, "connection.html")
