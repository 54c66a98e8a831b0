"""The FastAPI applications: content and webhook, each on a port of its own."""

import logging

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from catalogd.http.content import ContentApp, Library
from catalogd.http.webhook import webhook_router
from catalogd.metrics import Metrics
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.http.observed import observed
from olm_runtime.http.pages import plain_error

CATALOGS_PATH, QUERIES_PATH = "/catalogs/", "/api/v1/graphql"

access_log = logging.getLogger("catalogd.access")


def content_app(library: Library, metrics: Metrics, *, metas: bool, graphql: bool = False) -> Asgi:
    """Serves the catalogs. All but the two content endpoints is FastAPI's.

    They are not mounted in it: its layers cost as much again as a small answer does.
    """
    others = _bare("catalogd content")
    content = ContentApp(library, metas=metas)
    catalogs = observed(content, metrics.observe_request, access_log)
    queries = catalogs
    if graphql:
        from catalogd.http.graphql import graphql_router

        others.include_router(graphql_router(library))
        queries = observed(others, metrics.observe_request, access_log)

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
