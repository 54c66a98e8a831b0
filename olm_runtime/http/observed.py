"""Measures answers, and has them in traces."""

import logging
import time
from collections.abc import Callable, MutableMapping
from typing import Any

from olm_runtime import tracing
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send

Observe = Callable[[int, float], None]
"""Told of the status of an answer, and how many seconds it took."""


def observed(app: Asgi, observe: Observe, log: logging.Logger) -> Asgi:
    """The application with its answers counted, logged, and in spans where there are some."""
    timed = Timed(app, observe, log)
    return Traced(timed) if tracing.is_on() else timed


class Timed:
    """Counts and logs each answer."""

    def __init__(self, app: Asgi, observe: Observe, log: logging.Logger) -> None:
        self._app = app
        self._observe = observe
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        started = time.perf_counter()
        status = 500

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(str(message["status"]))
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - started
            self._observe(status, seconds)
            if self._log.isEnabledFor(logging.INFO):
                _write(self._log, scope, status, seconds)


class Traced:
    """Answers in a span, below that of the client if its request names one."""

    def __init__(self, app: Asgi) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        given = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        asked = {
            "http.request.method": scope["method"],
            "url.path": scope["path"],
            "url.query": scope["query_string"].decode("latin-1"),
        }
        with tracing.served_span("serve", given, asked):
            await self._app(scope, receive, send)


def _write(log: logging.Logger, scope: Scope, status: int, seconds: float) -> None:
    client = (scope.get("client") or ("-",))[0]
    query = scope["query_string"].decode("latin-1")
    target = f"{scope['path']}?{query}" if query else scope["path"]
    log.info('%s "%s %r" %d %.4f', client, scope["method"], target, status, seconds)
