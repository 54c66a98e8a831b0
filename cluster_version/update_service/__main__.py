"""Start-up of the update service: it listens at once, and serves when there is a graph."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cluster_version.graph_data.files import GraphData
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.io.graph_folder import FolderReader
from cluster_version.io.graph_image import ImageReader
from cluster_version.io.release_scan import ReleaseScan
from cluster_version.update_service.app import graph_app
from cluster_version.update_service.counts import Counts
from cluster_version.update_service.graphs import ServedGraphs
from cluster_version.update_service.settings import NAME, Settings, parse_settings
from cluster_version.update_service.sources import Source, Sources
from olm_runtime.disk import disk_errors
from olm_runtime.folders import collect
from olm_runtime.http.health import serve_health
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.registry.settings import PullSettings
from olm_runtime.tracing import start_tracing

DATA = "graph-data"
"""The name of that source."""
IMAGES, RELEASES = "images", "releases"
"""Folders of the cache."""


def main(settings: Settings) -> None:
    """The console script `update-service`."""
    share_one_arena()
    configure_logging(settings.log_level, settings.log_format)
    if settings.tracing:
        start_tracing(NAME)
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled."""
    await asyncio.to_thread(_tidy, settings.cache_dir)
    served, counts = ServedGraphs(), Counts()
    sources = Sources(_data(settings), _registries(settings), served)
    async with asyncio.TaskGroup() as group:
        _serve_graphs(group, settings, served, counts)
        _serve_metrics(group, settings, sources, served, counts)
        ready = {"graph": lambda: served.releases is not None}
        group.create_task(serve_health(settings.health_address, alive={}, ready=ready))
        sources.start(group)
        group.create_task(keep_small())


def _data(settings: Settings) -> Source[GraphData]:
    data = settings.graph_data
    if isinstance(data, Path):
        return Source(DATA, FolderReader(data).look, settings.reload_seconds)
    image = ImageReader(data, _pulls(settings), settings.cache_dir / IMAGES)
    return Source(DATA, image.look, settings.poll_seconds, image.remembered)


def _registries(settings: Settings) -> list[Source[Sequence[GraphRelease]]]:
    cache = settings.cache_dir / RELEASES
    scans = [(each.name, ReleaseScan(each, _pulls(settings), cache)) for each in settings.releases]
    return [Source(name, scan.look, settings.poll_seconds, scan.remembered) for name, scan in scans]


def _tidy(cache: Path) -> None:
    """Removes what a process that was killed was fetching. Blocking. Raises DiskError."""
    for folder in (cache / IMAGES, cache / RELEASES):
        with disk_errors("remove what was not fetched completely", folder):
            entries = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
            collect(folder, entries)


def _pulls(settings: Settings) -> PullSettings:
    return PullSettings(
        cas_dir=settings.cas_dir, auth_file=settings.auth_file, plain_http=settings.plain_http
    )


def _serve_graphs(
    group: asyncio.TaskGroup, settings: Settings, served: ServedGraphs, counts: Counts
) -> None:
    context = None
    if settings.tls_cert is not None and settings.tls_key is not None:
        tls = ServerTls(settings.tls_cert, settings.tls_key, settings.tls_profile)
        group.create_task(tls.follow())
        context = tls.context
    app = graph_app(served, counts, settings.prefix)
    group.create_task(serve_http(app, listen(settings.address), context))


def _serve_metrics(
    group: asyncio.TaskGroup,
    settings: Settings,
    sources: Sources,
    served: ServedGraphs,
    counts: Counts,
) -> None:
    if settings.metrics_address is None:
        return
    # Imported here: prometheus_client takes time and memory.
    from cluster_version.update_service.exposition import families
    from olm_runtime.http.metrics_page import metrics_page

    page = metrics_page(lambda: families(counts, sources.looks, served.releases), None)
    group.create_task(serve_http(page, listen(settings.metrics_address), None))


if __name__ == "__main__":
    main(parse_settings())
