"""Measures answers."""

import logging
import time

from catalogd.http.content import ContentApp, Receive, Scope, Send
from catalogd.metrics import Metrics

access_log = logging.getLogger("catalogd.access")


class Timed:
    """Counts and logs each answer of the content endpoints."""

    def __init__(self, app: ContentApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        started = time.perf_counter()
        status = 500

        async def noting(message: dict[str, object]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(str(message["status"]))
            await send(message)

        try:
            await self._app(scope, receive, noting)  # type: ignore[arg-type]
        finally:
            seconds = time.perf_counter() - started
            self._metrics.observe_request(status, seconds)
            if access_log.isEnabledFor(logging.INFO):
                _log(scope, status, seconds)


def _log(scope: Scope, status: int, seconds: float) -> None:
    client = (scope.get("client") or ("-",))[0]
    query = scope["query_string"].decode("latin-1")
    target = f"{scope['path']}?{query}" if query else scope["path"]
    access_log.info('%s "%s %r" %d %.4f', client, scope["method"], target, status, seconds)
