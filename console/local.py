"""`olm console` on the machine of its user: their kubeconfig, loopback, an address for once."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from socket import socket
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from console.app import console_app
from console.rendering import page
from console.sessions import KeySessions
from console.settings import Place
from console.users import User
from console.warming import WARMING, warm_up
from olm_client.reach import ClusterOptions
from olm_runtime.http.server import listen, serve
from olm_runtime.memory import keep_small

LOOPBACK = "127.0.0.1"


async def run_local(options: ClusterOptions, port: int, announce: Callable[[str], None]) -> None:
    """Serves until cancelled; `announce` is called with each address that lets in once.

    Raises TerminalError for a port that is taken, or a cluster that cannot be reached so.
    """
    listener = listen((LOOPBACK, port))
    place = place_of(listener)
    user = User.connect("you", options)
    sessions = KeySessions(user, lambda key: announce(entry(place, key)))
    keeping = asyncio.create_task(keep_small())
    user.works.begin(WARMING, lambda: warm_up(user))
    try:
        sessions.offer()
        app = console_app(place, sessions, entry_routes(place, sessions))
        await serve(app, listener, None, user.changes.end)
    finally:
        keeping.cancel()
        await user.close()


def place_of(listener: socket) -> Place:
    """Where a browser on this machine finds it."""
    port = listener.getsockname()[1]
    hosts = frozenset({f"{LOOPBACK}:{port}", f"localhost:{port}"})
    return Place(hosts, secure=False, cookie=f"olm-console-{port}")


def entry(place: Place, key: str) -> str:
    """The address that lets in once."""
    host = next(each for each in sorted(place.hosts) if each.startswith(LOOPBACK))
    return f"http://{host}/enter?{urlencode({'key': key})}"


def entry_routes(place: Place, sessions: KeySessions) -> APIRouter:
    """The page at that address."""
    router = APIRouter()

    @router.get("/enter")
    async def enter(request: Request, key: str = "") -> Response:
        """Begins a session."""
        session = sessions.enter(key)
        if session is None:
            return page(request, "signed_out.html", status=HTTPStatus.UNAUTHORIZED, sign_in="")
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        response.set_cookie(place.cookie, session.id, httponly=True, samesite="strict", path="/")
        return response

    return router
