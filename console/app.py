"""The FastAPI application of the console."""

from collections.abc import Iterable
from http import HTTPStatus

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from console import live
from console.changes import CONNECTION
from console.guard import SAFE_METHODS, Guard, check_token
from console.late_pages import LatePages
from console.pages import extensions, overview, packages
from console.rendering import failure, page
from console.sessions import Sessions
from console.settings import Place
from console.static_files import static_files
from olm_runtime.errors import OLMError
from olm_runtime.http.asgi import Asgi
from olm_runtime.kube.errors import ApiError, ForbiddenError, NotFoundError, is_away

COMPRESSED_FROM_BYTES = 1024
COMPRESSION = 5
"""A page is sent once; the highest takes three times as long for a hundredth."""
AWAY_SECONDS = 5
"""After which a page that waits for the API server asks for itself again."""
_FAULT = "The console has a fault, which it has written to its log."
PAGES = (overview, packages, extensions, live)
"""Those that most people begin with; `late_pages.py` has all others."""


def console_app(place: Place, sessions: Sessions, sign_in: APIRouter) -> Asgi:
    """All pages; `sign_in` has those by which sessions begin."""
    return Guard(LatePages(_pages(sign_in)), place, sessions)


def _pages(sign_in: APIRouter) -> FastAPI:
    app = FastAPI(
        title="olm console",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(check_token)],
    )
    for router in _routers(sign_in):
        app.include_router(router)
    app.mount("/static", static_files())
    app.add_middleware(
        GZipMiddleware, minimum_size=COMPRESSED_FROM_BYTES, compresslevel=COMPRESSION
    )
    for kind in (OLMError, HTTPException, Exception):
        app.add_exception_handler(kind, _error_page)
    return app


def _routers(sign_in: APIRouter) -> Iterable[APIRouter]:
    yield sign_in
    yield from (each.router for each in PAGES)


async def _error_page(request: Request, error: Exception) -> Response:
    """A page that says what failed, and what to do."""
    if isinstance(error, HTTPException):
        message, hint = _words(error), ""
        status = error.status_code
    elif isinstance(error, OLMError):
        message, hint, status = error.message, error.hint, _status(error)
    else:  # logged by the server
        message, hint, status = _FAULT, "", HTTPStatus.INTERNAL_SERVER_ERROR
    repeatable = request.method in SAFE_METHODS
    if isinstance(error, ApiError) and is_away(error):
        again = {"live": (CONNECTION,), "every": AWAY_SECONDS} if repeatable else {}
        variables = {"away": message, "repeatable": repeatable}
        return page(request, "away.html", status=status, **variables, **again)
    return failure(request, status, message=message, hint=hint, repeatable=repeatable)


def _words(error: HTTPException) -> str:
    return "There is no such page." if error.status_code == HTTPStatus.NOT_FOUND else error.detail


def _status(error: OLMError) -> int:
    match error:
        case NotFoundError():
            return HTTPStatus.NOT_FOUND
        case ForbiddenError():
            return HTTPStatus.FORBIDDEN
        case ApiError():
            return HTTPStatus.BAD_GATEWAY
        case _:
            return HTTPStatus.UNPROCESSABLE_ENTITY
