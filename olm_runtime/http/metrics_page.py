"""The page /metrics, for those who may read it."""

from collections.abc import Awaitable, Callable, Iterable

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from olm_runtime.http.pages import pages
from olm_runtime.metrics.exposition import written

Authorize = Callable[[str], Awaitable[int]]
"""The HTTP status for a caller with this bearer token: 200, 401, 403, 429 or 500."""
PATH = "/metrics"


def metrics_page(families: Callable[[], Iterable[Metric]], authorize: Authorize) -> Starlette:
    """The application, which reads the metrics anew for each caller."""

    async def answer(request: Request) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        status = await authorize(token) if scheme.lower() == "bearer" and token else 401
        if status != 200:
            return PlainTextResponse(status_code=status)
        return Response(written(families()), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return pages([Route(PATH, answer)])
