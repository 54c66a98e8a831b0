"""What is asked before any page: that it is our address, our page, and somebody who signed in."""

import hmac
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from console.parts import parts_for
from console.rendering import page
from console.sessions import Sessions
from console.settings import HEADERS, Place

OPEN = ("/static/", "/enter", "/sign-in", "/healthz")
"""Paths for those who have not signed in."""
SAFE_METHODS = frozenset({"GET", "HEAD"})
TOKEN_FIELD, TOKEN_HEADER = "token", "X-CSRF-Token"

Next = Callable[[Request], Awaitable[Response]]


class Guard:
    """Middleware of the application: refuses, or says who asks and lets pass."""

    def __init__(self, place: Place, sessions: Sessions) -> None:
        self._place = place
        self._sessions = sessions

    async def __call__(self, request: Request, forward: Next) -> Response:
        """The answer, with the headers of every answer."""
        response = self._refusal(request) or await self._for_user(request, forward)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if self._place.secure:
            response.headers["Strict-Transport-Security"] = "max-age=31536000"
        return response

    def _refusal(self, request: Request) -> Response | None:
        """Where a browser was led here by a name or a page of somebody else."""
        if request.headers.get("host", "").lower() not in self._place.hosts:
            text = f"this is the console at {', '.join(sorted(self._place.hosts))}, and no other\n"
            return PlainTextResponse(text, HTTPStatus.MISDIRECTED_REQUEST)
        if request.method in SAFE_METHODS:
            return None
        if request.headers.get("origin") not in self._place.origins:
            text = "forms are sent from pages of the console alone\n"
            return PlainTextResponse(text, HTTPStatus.FORBIDDEN)
        return None

    async def _for_user(self, request: Request, forward: Next) -> Response:
        session = self._sessions.find(request.cookies.get(self._place.cookie, ""))
        if session is not None:
            request.state.session, request.state.user = session, session.user
            request.state.token = session.token
            if not request.url.path.startswith(OPEN):
                request.state.parts = await parts_for(session.user)
        elif not request.url.path.startswith(OPEN):
            return page(request, "signed_out.html", status=HTTPStatus.UNAUTHORIZED)
        return await forward(request)


async def check_token(request: Request) -> None:
    """Refuses what would change something and was not sent by a form of this session's pages."""
    if request.method in SAFE_METHODS or request.url.path.startswith(OPEN):
        return
    given = request.headers.get(TOKEN_HEADER) or (await request.form()).get(TOKEN_FIELD, "")
    if not hmac.compare_digest(str(given).encode(), request.state.token.encode()):
        raise HTTPException(HTTPStatus.FORBIDDEN, "the page is too old: load it again")
