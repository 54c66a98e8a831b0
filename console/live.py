"""What lives on pages: server-sent events with the kinds whose objects changed."""

from collections.abc import AsyncIterator
from http import HTTPStatus

from fastapi import APIRouter, HTTPException
from starlette.responses import StreamingResponse

from console.asked import AskedBy

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
            data = " ".join(sorted(kinds))
            yield f"event: changed\nid: {user.changes.mark}\ndata: {data}\n\n".encode()

    return StreamingResponse(events(), media_type="text/event-stream")
