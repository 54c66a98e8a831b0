"""Serves the probes of a daemon."""

import asyncio
from collections.abc import Callable, Mapping

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from olm_runtime.errors import TerminalError
from olm_runtime.http.pages import pages
from olm_runtime.http.server import listen, serve

Checks = Mapping[str, Callable[[], bool]]
"""What is to hold, by name."""


async def serve_health(address: tuple[str, int] | None, *, alive: Checks, ready: Checks) -> None:
    """Serves /healthz and /readyz until cancelled: ok while all of their checks hold."""
    if address is None:
        await asyncio.Event().wait()
        return
    try:
        listener = listen(address)
    except TerminalError as error:
        raise TerminalError(
            f"cannot serve health: {error.message}",
            hint="give another address with --health-probe-bind-address, or 0 for none",
        ) from error
    await serve(health_pages(alive=alive, ready=ready), listener, None)


def health_pages(*, alive: Checks, ready: Checks) -> Starlette:
    """The application: 200 and `ok`, or 503 and the names of the checks that fail."""
    return pages(health_routes(alive=alive, ready=ready))


def health_routes(*, alive: Checks, ready: Checks) -> list[Route]:
    """The pages alone, for an application with others."""
    return [_route("/healthz", "not alive", alive), _route("/readyz", "not ready", ready)]


def _route(path: str, fault: str, checks: Checks) -> Route:
    async def answer(_: Request) -> Response:
        failing = [name for name, holds in checks.items() if not holds()]
        if failing:
            return PlainTextResponse(f"{fault}: {', '.join(failing)}", 503)
        return PlainTextResponse("ok")

    return Route(path, answer)
