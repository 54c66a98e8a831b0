"""Measures answers, and writes what was counted in Prometheus' text format."""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from catalogd.http.content import ContentApp, Receive, Scope, Send
from catalogd.metrics import Metrics, PollResult, Served
from olm_shared.exposition import family, histogram_samples, sample

REQUESTS = "catalogd_http_request_duration_seconds"
CATALOG = "catalogd_catalog_"

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


def exposition(metrics: Metrics, served: Iterable[Served] = ()) -> str:
    """All metrics as text; `served` is what there is to say of each catalog's content."""
    lines = [*family(REQUESTS, "histogram", "Time to answer requests for catalog content.")]
    for status, histogram in sorted(metrics.requests.items()):
        lines += histogram_samples(REQUESTS, {"code": status}, histogram)
    return "\n".join([*lines, *_contents(tuple(served)), *_polls(metrics)]) + "\n"


def _contents(served: Sequence[Served]) -> Iterator[str]:
    for name, text, value in (
        ("content_bytes", "Size of the content, uncompressed.", attrgetter("size")),
        ("content_blobs", "Blobs in the content.", attrgetter("blobs")),
        (
            "unpacked_timestamp_seconds",
            "When the content was unpacked; its age is the time since.",
            attrgetter("unpacked"),
        ),
    ):
        yield from family(CATALOG + name, "gauge", text)
        for catalog in served:
            yield sample(CATALOG + name, {"catalog": catalog.name}, value(catalog))


def _polls(metrics: Metrics) -> Iterator[str]:
    catalogs = sorted(metrics.catalogs.items())
    name = CATALOG + "unpack_duration_seconds"
    yield from family(name, "gauge", "Time from asking the registry to the last new content.")
    for catalog, counts in catalogs:
        if counts.unpack_seconds is not None:
            yield sample(name, {"catalog": catalog}, round(counts.unpack_seconds, 3))
    name = CATALOG + "polls_total"
    yield from family(name, "counter", "How often the registry was asked, by what came of it.")
    for catalog, counts in catalogs:
        for result in PollResult:
            labels = {"catalog": catalog, "result": result.value}
            yield sample(name, labels, counts.polls[result])
