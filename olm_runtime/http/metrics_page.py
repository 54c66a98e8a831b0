"""The page /metrics, for those who may read it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from olm_runtime.http.pages import pages
from olm_runtime.metrics.exposition import written

Authorize = Callable[[str], Awaitable[int]]
"""The HTTP status for a caller with this bearer token: 200, 401, 403, 429 or 500."""
PATH = "/metrics"


def metrics_page(
    families: Callable[[], Iterable[Metric]],
    authorize: Authorize | None,
    routes: Sequence[BaseRoute] = (),
    *,
    authorize_certificate: Authorize | None = None,
) -> Starlette:
    """The application, which reads the metrics anew for each caller; None authorizes everybody.

    routes                 those of other pages
    authorize_certificate  takes the certificate (PEM) of a caller who has no token
    """

    async def answer(request: Request) -> Response:
        if authorize is not None:
            status = await _judge(request, authorize, authorize_certificate)
            if status != HTTPStatus.OK:
                return PlainTextResponse(status_code=status)
        return Response(written(families()), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return pages([Route(PATH, answer), *routes])


async def _judge(
    request: Request, authorize: Authorize, authorize_certificate: Authorize | None
) -> int:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return await authorize(token)
    shown = request.scope.get("extensions", {}).get("tls", {}).get("client_cert_chain")
    if authorize_certificate is not None and shown:
        return await authorize_certificate(shown[0])
    return HTTPStatus.UNAUTHORIZED
