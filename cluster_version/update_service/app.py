"""The FastAPI application: `/graph`."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from cluster_version.graph_data.releases import DEFAULT_ARCHITECTURE
from cluster_version.update_service.answers import Answer
from cluster_version.update_service.counts import Counts
from cluster_version.update_service.graphs import ServedGraphs
from cluster_version.update_service.questions import (
    JSON,
    NO_SUCH_PAGE,
    NOT_ALLOWED,
    RefusalError,
    read_question,
)
from olm_runtime.http.asgi import Asgi
from olm_runtime.http.observed import observed
from olm_runtime.preconditions import Validators, Verdict, evaluate, negotiate

PATHS = ("/graph", "/v1/graph")
GZIP = "gzip"
PIECE_BYTES = 128 << 10
CONDITIONS = ("if-match", "if-none-match")

access_log = logging.getLogger("cluster_version.update_service.access")


def graph_app(served: ServedGraphs, counts: Counts, prefix: str) -> Asgi:
    """The application; its paths are there with the prefix, and without."""
    return observed(_routes(served, counts, prefix), counts.observe, access_log)


def _routes(served: ServedGraphs, counts: Counts, prefix: str) -> FastAPI:
    app = FastAPI(
        title="update-service",
        summary="Graphs of updates, in the Cincinnati protocol.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi",
        redirect_slashes=False,
    )

    async def graph(
        request: Request,
        channel: Annotated[str | None, Query(description="What the cluster follows.")] = None,
        arch: Annotated[
            str, Query(description="As Go names it, or `multi`.")
        ] = DEFAULT_ARCHITECTURE,
        version: Annotated[str, Query(description="Of the cluster; not looked at.")] = "",  # noqa: ARG001
        id: Annotated[str, Query(description="Of the cluster; not looked at.")] = "",  # noqa: A002, ARG001
    ) -> Response:
        """The graph of a channel for an architecture."""
        question = read_question(request.headers.get("accept"), channel, arch)
        answer = await served.answer((question.channel, question.architecture))
        return _response(request, answer, question.media_type)

    for path in dict.fromkeys((*PATHS, *(prefix + each for each in PATHS))):
        shown = path in PATHS
        app.add_api_route(path, graph, response_class=Response, include_in_schema=shown)
        app.add_api_route(path, graph, methods=["HEAD"], include_in_schema=False)

    async def refuse(_: Request, error: Exception) -> Response:
        refusal = _refusal(error)
        counts.refused[refusal.status, refusal.kind] += 1
        return Response(refusal.body(), refusal.status, media_type=JSON)

    for kind in (RefusalError, HTTPException, Exception):
        app.add_exception_handler(kind, refuse)
    return app


def _response(request: Request, answer: Answer, media_type: str) -> Response:
    offered = (GZIP,) if answer.compressed else ()
    coding = negotiate(request.headers.get("accept-encoding", ""), offered)
    tag = f'"{answer.digest}-{coding}"'
    headers = {"etag": tag, "vary": "accept, accept-encoding"}
    given = {name: request.headers[name] for name in CONDITIONS if name in request.headers}
    match evaluate(given, Validators(tag, 0)):
        case Verdict.NOT_MODIFIED:
            return Response(status_code=304, headers=headers)
        case Verdict.FAILED:
            raise RefusalError(412, "precondition_failed", "the graph is another one by now")
        case Verdict.PROCEED:
            body = answer.plain
    if coding == GZIP:
        body, headers["content-encoding"] = answer.compressed, GZIP
    headers["content-length"] = str(len(body))
    return StreamingResponse(_pieces(body), media_type=media_type, headers=headers)


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    """A client that does not read costs a piece, and not the whole."""
    for start in range(0, len(body), PIECE_BYTES):
        yield body[start : start + PIECE_BYTES]


def _refusal(error: Exception) -> RefusalError:
    if isinstance(error, RefusalError):
        return error
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {404: NO_SUCH_PAGE, 405: NOT_ALLOWED}
    return known.get(status) or RefusalError(status, "internal_error", "an error of the service")
