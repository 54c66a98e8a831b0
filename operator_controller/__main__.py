"""Start-up of operator-controller: health at once, the controllers while it leads."""

import asyncio
import socket
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from olm_runtime.certificates.serving import CertificateFiles, CertificateIssuer
from olm_runtime.controller.leader import Elector
from olm_runtime.http.health import serve_health
from olm_runtime.kube.access import ClusterAccess, load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_large_blocks_apart, keep_small, share_one_arena
from olm_runtime.program import run, utc_now
from olm_runtime.tracing import start_tracing
from operator_controller.io.certificates import rotation
from operator_controller.metrics import Metrics, Readings
from operator_controller.settings import MetricsSettings, Settings, parse_settings
from operator_controller.wiring import LEASE, Controllers

if TYPE_CHECKING:  # imported once metrics are asked for: it takes time and memory
    from prometheus_client.metrics_core import Metric


def main(settings: Settings) -> None:
    """The console script `operator-controller`."""
    share_one_arena()
    keep_large_blocks_apart()
    configure_logging(settings.log_level, settings.log_format)
    if settings.tracing:
        start_tracing("operator-controller")
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled."""
    access = load_access(settings.kubeconfig)
    ready = asyncio.Event()
    async with KubeClient.connect(access) as client, asyncio.TaskGroup() as group:
        process = _Process(settings, access, client, ready)
        alive, at_work = {"watches": process.watches_live}, {"controllers": ready.is_set}
        group.create_task(serve_health(settings.health_address, alive=alive, ready=at_work))
        if process.files is not None:
            group.create_task(process.files.follow())
        if settings.metrics is not None:
            group.create_task(process.serve_metrics(settings.metrics))
        group.create_task(process.lead())
        group.create_task(keep_small())


class _Process:
    """This replica: it waits for the lease and runs the controllers while it has it."""

    def __init__(
        self, settings: Settings, access: ClusterAccess, client: KubeClient, ready: asyncio.Event
    ) -> None:
        self._settings = settings
        self._access = access
        self._client = client
        self._ready = ready
        self._identity = f"{socket.gethostname()}_{uuid.uuid1()}"
        self._controllers: Controllers | None = None
        self.files = _certificate_files(settings, client)

    def watches_live(self) -> bool:
        """Whether what the controllers rely on lives; a replica that waits relies on nothing."""
        return self._controllers is None or self._controllers.manager.is_alive()

    async def serve_metrics(self, wanted: MetricsSettings) -> None:
        """Serves the metrics, whether it leads or not."""
        from operator_controller.io.metrics_server import serve_metrics

        if self.files is not None:
            await self.files.complete.wait()
        await serve_metrics(
            wanted.address,
            (wanted.tls_cert, wanted.tls_key),
            self._settings.tls_profile,
            client=self._client,
            families=self._families,
        )

    def _families(self) -> "Iterator[Metric]":
        from operator_controller.exposition import families

        controllers = self._controllers
        if controllers is None:
            waiting = Readings(answers=self._client.answers, lease=LEASE)
            return families(Metrics(), waiting)
        return families(controllers.metrics, controllers.readings())

    async def lead(self) -> None:
        """Controls, at once or when elected."""
        settings = self._settings
        if not settings.leader_elect:
            await self._control()
            return
        self._ready.set()  # a replica that waits for the lease is as ready as it can be
        elector = Elector(
            self._client,
            namespace=settings.system_namespace,
            name=LEASE,
            identity=self._identity,
        )
        await elector.run(self._control)

    async def _control(self) -> None:
        settings, client = self._settings, self._client
        self._controllers = Controllers(settings, client, instance=self._identity)
        async with asyncio.TaskGroup() as group:
            if settings.serving is not None:
                group.create_task(_certificate_issuer(settings, client).run())
            group.create_task(self._controllers.run(self._access))
            await self._controllers.manager.started.wait()
            self._ready.set()


def _certificate_files(settings: Settings, client: KubeClient) -> CertificateFiles | None:
    serving = settings.serving
    if serving is None:
        return None
    return CertificateFiles(
        client,
        settings.system_namespace,
        serving.certificates,
        serving.folder,
        settle=settings.certificate_settle,
    )


def _certificate_issuer(settings: Settings, client: KubeClient) -> CertificateIssuer:
    return CertificateIssuer(
        client,
        settings.system_namespace,
        settings.serving.certificates if settings.serving else (),
        rotation=rotation(settings.certificate_lifetime, settings.certificate_settle, utc_now),
        field_manager="operator-controller",
    )


if __name__ == "__main__":
    main(parse_settings())
