"""Applications of a few small pages: probes, metrics, webhooks. Errors are a line of plain text.

Starlette, which FastAPI is made of: the daemons do without the rest of FastAPI.
"""

from collections.abc import Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute

_TEXTS = {404: "404 page not found", 405: "Method Not Allowed"}
"""As Go's servers have them."""


async def plain_error(_: Request, error: Exception) -> Response:
    """The answer to what there is no page for."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = _TEXTS.get(status, f"{status} {HTTPStatus(status).phrase}")
    return PlainTextResponse(f"{text}\n", status)


def pages(routes: Sequence[BaseRoute]) -> Starlette:
    """An application of these routes alone."""
    app = Starlette(routes=routes, exception_handlers={HTTPException: plain_error})
    app.router.redirect_slashes = False
    return app
