"""Serves /metrics to those who may; an ASGI application of one page."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric

from olm_runtime.metrics.exposition import written

Authorize = Callable[[str], Awaitable[int]]
"""The HTTP status for a caller with this bearer token: 200, 401, 403, 429 or 500."""
Message = MutableMapping[str, Any]
PATH = "/metrics"
TEXT_FORMAT = CONTENT_TYPE_PLAIN_0_0_4.encode()
PLAIN = b"text/plain; charset=utf-8"


class MetricsPage:
    """Writes the page anew for each caller."""

    def __init__(self, families: Callable[[], Iterable[Metric]], authorize: Authorize) -> None:
        self._families = families
        self._authorize = authorize

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],  # noqa: ARG002 - ASGI's signature
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        """Answers one request."""
        status, kind, body = await self._answer(scope)
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Message) -> tuple[int, bytes, bytes]:
        if scope["path"] != PATH:
            return 404, PLAIN, b"404 page not found\n"
        if scope["method"] != "GET":
            return 405, PLAIN, b"Method Not Allowed\n"
        headers: dict[bytes, bytes] = dict(scope["headers"])
        scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        verdict = await self._authorize(token) if scheme.lower() == "bearer" and token else 401
        if verdict != 200:
            return verdict, PLAIN, b""
        return 200, TEXT_FORMAT, written(self._families())
