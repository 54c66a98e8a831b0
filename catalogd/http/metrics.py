"""Measures answers, and writes what was counted in Prometheus' text format."""

import logging
import time
from collections.abc import Iterator
from itertools import accumulate

from catalogd.http.content import ContentApp, Receive, Scope, Send
from catalogd.metrics import Histogram, Metrics

REQUESTS = "catalogd_http_request_duration_seconds"

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


def exposition(metrics: Metrics) -> str:
    """All metrics as text."""
    lines = [
        f"# HELP {REQUESTS} Time to answer requests for catalog content.",
        f"# TYPE {REQUESTS} histogram",
    ]
    for status, histogram in sorted(metrics.requests.items()):
        lines += _histogram(REQUESTS, f'code="{status}"', histogram)
    return "\n".join(lines) + "\n"


def _histogram(name: str, labels: str, histogram: Histogram) -> Iterator[str]:
    bounds = [*(f"{bound:g}" for bound in histogram.bounds), "+Inf"]
    running = list(accumulate(histogram.counts))
    for bound, count in zip(bounds, running, strict=True):
        yield f'{name}_bucket{{{labels},le="{bound}"}} {count}'
    yield f"{name}_sum{{{labels}}} {histogram.total!r}"
    yield f"{name}_count{{{labels}}} {running[-1]}"
