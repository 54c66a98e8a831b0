"""Measures answers, and has them in traces."""

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from catalogd.http.content import Receive, Scope, Send
from catalogd.metrics import Metrics
from olm_runtime import tracing

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

access_log = logging.getLogger("catalogd.access")


class Timed:
    """Counts and logs each answer about catalogs."""

    def __init__(self, app: Asgi, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

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
            self._metrics.observe_request(status, seconds)
            if access_log.isEnabledFor(logging.INFO):
                _log(scope, status, seconds)


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


def _log(scope: Scope, status: int, seconds: float) -> None:
    client = (scope.get("client") or ("-",))[0]
    query = scope["query_string"].decode("latin-1")
    target = f"{scope['path']}?{query}" if query else scope["path"]
    access_log.info('%s "%s %r" %d %.4f', client, scope["method"], target, status, seconds)
