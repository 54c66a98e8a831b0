"""The FastAPI applications: content and webhook, each on a port of its own."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from catalogd.http.content import ContentApp, Library, Receive, Scope, Send
from catalogd.http.metrics import Asgi, Timed, Traced
from catalogd.http.webhook import webhook_router
from catalogd.metrics import Metrics
from olm_runtime import tracing
from olm_runtime.http.pages import plain_error

CATALOGS_PATH, QUERIES_PATH = "/catalogs/", "/api/v1/graphql"


def content_app(library: Library, metrics: Metrics, *, metas: bool, graphql: bool = False) -> Asgi:
    """Serves the catalogs. All but the two content endpoints is FastAPI's.

    They are not mounted in it: its layers cost as much again as a small answer does.
    """
    others = _bare("catalogd content")
    catalogs: Asgi = Timed(ContentApp(library, metas=metas), metrics)
    if tracing.is_on():
        catalogs = Traced(catalogs)
    queries = catalogs
    if graphql:
        from catalogd.http.graphql import graphql_router

        others.include_router(graphql_router(library))
        queries = Timed(others, metrics)
        if tracing.is_on():
            queries = Traced(queries)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        chosen: Asgi = others
        if scope["type"] == "http" and scope["path"].startswith(CATALOGS_PATH):
            chosen = queries if scope["path"].endswith(QUERIES_PATH) else catalogs
        await chosen(scope, receive, send)

    return app


def webhook_app() -> FastAPI:
    """Serves the mutating webhook."""
    app = _bare("catalogd webhook")
    app.include_router(webhook_router())

    @app.exception_handler(RequestValidationError)
    async def refuse(_: Request, __: Exception) -> Response:
        return PlainTextResponse("no AdmissionReview\n", 400)

    return app


def _bare(title: str) -> FastAPI:
    """An application without pages of documentation."""
    return FastAPI(
        title=title,
        openapi_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: plain_error},
    )
