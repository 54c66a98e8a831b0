"""The FastAPI applications: content and webhook, each on a port of its own."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from catalogd.http import problems
from catalogd.http.content import ContentApp, Library, Receive, Scope, Send
from catalogd.http.metrics import Timed
from catalogd.http.webhook import webhook_router
from catalogd.metrics import Metrics

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]
CATALOGS_PATH = "/catalogs/"


def content_app(library: Library, metrics: Metrics, *, metas: bool) -> Asgi:
    """Serves the catalogs; what is no catalog's path is FastAPI's.

    Not mounted in it: its layers cost as much again as a small answer does.
    """
    catalogs, others = Timed(ContentApp(library, metas=metas), metrics), _bare("catalogd content")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        is_catalog = scope["type"] == "http" and scope["path"].startswith(CATALOGS_PATH)
        await (catalogs if is_catalog else others)(scope, receive, send)

    return app


def webhook_app() -> FastAPI:
    """Serves the mutating webhook."""
    app = _bare("catalogd webhook")
    app.include_router(webhook_router())
    return app


def _bare(title: str) -> FastAPI:
    """An application without documentation routes, whose errors are upstream's texts."""
    app = FastAPI(title=title, openapi_url=None, redirect_slashes=False)

    @app.exception_handler(HTTPException)
    async def plain(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        known = {404: problems.NO_SUCH_PAGE, 405: problems.METHOD_NOT_ALLOWED}
        problem = known.get(status, problems.INTERNAL_ERROR)
        return Response(problem.body, status, media_type="text/plain; charset=utf-8")

    return app
