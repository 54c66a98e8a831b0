"""Start-up of catalog-operator: health at once, the controllers while it leads."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from olm_classic.catalog_operator.settings import Metrics, Settings, parse_settings
from olm_classic.catalog_operator.wiring import LEASE, Controllers
from olm_classic.metrics import Metrics as Counts
from olm_classic.metrics import Readings
from olm_runtime.controller.manager import Manager
from olm_runtime.http.health import health_routes
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.kube.access import ClusterAccess, load_access
from olm_runtime.kube.callers import Callers
from olm_runtime.kube.client import KubeClient
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_large_blocks_apart, keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.replica import Replica, process_identity
from olm_runtime.tracing import start_tracing

if TYPE_CHECKING:  # imported once metrics are asked for: it takes time and memory
    from prometheus_client.metrics_core import Metric
    from starlette.applications import Starlette

NAME = "catalog-operator"


def main(settings: Settings) -> None:
    """The console script `catalog-operator`."""
    share_one_arena()
    keep_large_blocks_apart()
    configure_logging(settings.log_level, settings.log_format)
    if settings.tracing:
        start_tracing(NAME)
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled."""
    access = load_access(settings.kubeconfig)
    async with KubeClient.connect(access) as client, asyncio.TaskGroup() as group:
        process = _Process(settings, access, client)
        group.create_task(process.replica.serve_health(settings.health_address))
        if settings.metrics is not None:
            process.start_metrics(group, settings.metrics)
        group.create_task(process.replica.lead())
        group.create_task(keep_small())


class _Process:
    """This process, and what it runs while it leads."""

    def __init__(self, settings: Settings, access: ClusterAccess, client: KubeClient) -> None:
        self._settings = settings
        self._access = access
        self._client = client
        self._identity = process_identity()
        self._controllers: Controllers | None = None
        self.replica = Replica(
            client,
            identity=self._identity,
            lease=(settings.system_namespace, LEASE) if settings.leader_elect else None,
            begin=self._control,
        )

    def start_metrics(self, group: asyncio.TaskGroup, wanted: Metrics) -> None:
        """Has the metrics served, whether it leads or not. Raises TerminalError."""
        tls = None
        if wanted.tls_cert is not None and wanted.tls_key is not None:
            profile, client_ca = self._settings.tls_profile, wanted.client_ca
            tls = ServerTls(wanted.tls_cert, wanted.tls_key, profile, client_ca)
            group.create_task(tls.follow())
        page = self._metrics_page(authorized=tls is not None)
        group.create_task(serve_http(page, listen(wanted.address), tls.context if tls else None))

    def _metrics_page(self, *, authorized: bool) -> "Starlette":
        from olm_runtime.http.metrics_page import metrics_page

        probes = health_routes(alive=self.replica.alive, ready=self.replica.ready)
        if not authorized:
            return metrics_page(self._families, None, probes)
        callers = Callers(self._client, field_manager=NAME)
        return metrics_page(
            self._families, callers.judge, probes, authorize_certificate=callers.judge_certificate
        )

    def _families(self) -> "Iterator[Metric]":
        from olm_classic.catalog_operator.exposition import families

        controllers = self._controllers
        if controllers is None:
            return families(Counts(), Readings(answers=self._client.answers, lease=LEASE))
        return families(controllers.metrics, controllers.readings())

    def _control(self, group: asyncio.TaskGroup) -> Manager:
        self._controllers = Controllers(self._settings, self._client, instance=self._identity)
        group.create_task(self._controllers.run(self._access))
        return self._controllers.manager


if __name__ == "__main__":
    main(parse_settings())
