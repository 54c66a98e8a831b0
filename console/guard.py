"""What is asked before any page: that it is our address, our page, and somebody who signed in."""

from collections.abc import MutableMapping
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from console.live import SESSION, STREAM, is_stream, stream
from console.parts import is_offered, parts_for
from console.rendering import failure, page
from console.sessions import Session, Sessions
from console.settings import HEADERS, Place, is_open
from olm_runtime.errors import OLMError
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send

SAFE_METHODS = frozenset({"GET", "HEAD"})
TOKEN_FIELD, TOKEN_HEADER = "token", "X-CSRF-Token"
MAX_BODY_BYTES = 2 << 20
"""More than any form has: objects of the API server have 1.5 MiB at most."""


class Guard:
    """Stands before the application: refuses, or says who asks and lets pass.

    It is no `BaseHTTPMiddleware`: streams pass without a task and a queue of their own. It stands
    before the application's handling of errors, too, whose answers get the headers like all others.
    """

    def __init__(self, app: Asgi, place: Place, sessions: Sessions) -> None:
        self._app = app
        self._place = place
        self._sessions = sessions
        transport = {"Strict-Transport-Security": "max-age=31536000"} if place.secure else {}
        self._headers = Headers(HEADERS | transport).raw

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        request = Request(scope)

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                missing = (each for each in self._headers if each[0] not in present)
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        answer = self._refusal(request) or self._for_user(request)
        await answer(scope, _bounded(receive), send_with_headers)

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

    def _for_user(self, request: Request) -> Asgi:
        """Says who asks; what answers them, which may be that they have to sign in first."""
        cookie = request.cookies.get(self._place.cookie, "")
        session = self._sessions.find(cookie, used=_by_person(request))
        if session is not None:
            request.state.session, request.state.user = session, session.user
            # Before anything is read: what changes from here on is reported to the page.
            request.state.mark = session.user.changes.mark
            if is_stream(request):
                return partial(stream, session, partial(self._lives, cookie), self._of_session)
            return self._of_session
        if _is_open(request):
            return self._app
        return self._sign_in_first(request)

    def _sign_in_first(self, request: Request) -> Response:
        """The page that says so, which is followed by the one that was asked for."""
        return page(
            request,
            "signed_out.html",
            status=HTTPStatus.UNAUTHORIZED,
            sign_in=self._place.sign_in,
            live=(SESSION,) if request.method in SAFE_METHODS else (),
        )

    def _lives(self, cookie: str) -> bool:
        return self._sessions.find(cookie, used=False) is not None

    async def _of_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page, if it is of a part that the user's cluster has."""
        request = Request(scope)
        session: Session = request.state.session
        request.state.token = session.token
        refusal = None if _is_open(request) else await _with_parts(request, session)
        await (refusal or self._app)(scope, receive, send)


async def check_token(request: Request) -> None:
    """Refuses what would change something and was not sent by a form of this session's pages."""
    if request.method in SAFE_METHODS or _is_open(request):
        return
    session: Session = request.state.session
    given = request.headers.get(TOKEN_HEADER) or (await request.form()).get(TOKEN_FIELD, "")
    if not session.accepts(str(given)):
        raise HTTPException(HTTPStatus.FORBIDDEN, "the page is too old: load it again")


def _is_open(request: Request) -> bool:
    return is_open(request.scope["path"])  # making an URL of it takes longer than all else here


def _by_person(request: Request) -> bool:
    """Not by a page that is open and gets itself anew."""
    return request.scope["path"] != STREAM and "HX-Request" not in request.headers


async def _with_parts(request: Request, session: Session) -> Response | None:
    """Says which parts there are; the answer for a page of another."""
    try:
        request.state.parts = await parts_for(session.user)
    except OLMError:
        request.state.parts = ()  # the page asks the API server, too, and says what is wrong
        return None
    if is_offered(request.url.path, request.state.parts):
        return None
    message = "This cluster does not have what this page is about."
    hint = "its API is not served: it may have been uninstalled"
    again = request.method in SAFE_METHODS
    return failure(request, HTTPStatus.NOT_FOUND, message=message, hint=hint, repeatable=again)


def _bounded(receive: Receive) -> Receive:
    """Ends the reading of a body that is too long."""
    taken = 0

    async def bounded() -> MutableMapping[str, Any]:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY_BYTES:
            text = f"the form is larger than {MAX_BODY_BYTES >> 20} MiB"
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        return message

    return bounded
