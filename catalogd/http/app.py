"""The applications: content and webhook, each on a port of its own."""

import logging

from starlette.applications import Starlette

from catalogd.http.content import ContentApp, Library
from catalogd.http.webhook import webhook_route
from catalogd.metrics import Metrics
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.http.observed import observed
from olm_runtime.http.pages import pages

CATALOGS_PATH, QUERIES_PATH = "/catalogs/", "/api/v1/graphql"

access_log = logging.getLogger("catalogd.access")


def content_app(library: Library, metrics: Metrics, *, metas: bool, graphql: bool = False) -> Asgi:
    """Serves the catalogs. All but the endpoints of their content is Starlette's.

    They are not mounted in it: its layers cost as much again as a small answer does.
    """
    catalogs = observed(ContentApp(library, metas=metas), metrics.observe_request, access_log)
    others: Asgi = pages([])
    queries = catalogs
    if graphql:
        # Imported here: GraphQL takes time and memory.
        from catalogd.http.graphql import QueryApp

        queries = observed(QueryApp(library), metrics.observe_request, access_log)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        chosen: Asgi = others
        if scope["type"] == "http" and scope["path"].startswith(CATALOGS_PATH):
            chosen = queries if scope["path"].endswith(QUERIES_PATH) else catalogs
        await chosen(scope, receive, send)

    return app


def webhook_app() -> Starlette:
    """Serves the mutating webhook."""
    return pages([webhook_route()])
