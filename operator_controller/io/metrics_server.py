"""Serves the metrics over HTTPS to those whom the API server lets read them."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from prometheus_client.metrics_core import Metric

from olm_runtime.http.metrics_page import metrics_page
from olm_runtime.http.server import listen, serve
from olm_runtime.http.tls import ServerTls, TlsProfile
from olm_runtime.kube.callers import Callers
from olm_runtime.kube.client import KubeClient


async def serve_metrics(
    address: tuple[str, int],
    certificate: tuple[Path, Path],
    profile: TlsProfile,
    *,
    client: KubeClient,
    families: Callable[[], Iterable[Metric]],
) -> None:
    """Serves until cancelled; `certificate` is its file and its key's. Raises TerminalError."""
    tls = ServerTls(*certificate, profile)
    callers = Callers(client, field_manager="operator-controller")
    page = metrics_page(families, callers.judge)
    async with asyncio.TaskGroup() as group:
        group.create_task(serve(page, listen(address), tls.context))
        group.create_task(tls.follow())
