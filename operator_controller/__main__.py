"""Start-up of operator-controller: health at once, the controllers while it leads."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from olm_runtime.controller.leader import LeasePlace
from olm_runtime.controller.manager import Manager
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_large_blocks_apart, keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.replica import Replica, process_identity
from olm_runtime.tracing import start_tracing
from operator_controller.settings import LEASE, MetricsSettings, Settings, parse_settings

if TYPE_CHECKING:  # imported late: they take time and memory
    from prometheus_client.metrics_core import Metric

    from olm_runtime.certificates.serving import CertificateFiles, CertificateIssuer
    from operator_controller.wiring import Controllers


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
    async with KubeClient.connect(access) as client, asyncio.TaskGroup() as group:
        process = _Process(settings, access, client)
        group.create_task(process.replica.serve_health(settings.health_address))
        if process.files is not None:
            group.create_task(process.files.follow())
        if settings.metrics is not None:
            group.create_task(process.serve_metrics(settings.metrics))
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
        self.files = _certificate_files(settings, client)
        self.replica = Replica(
            client,
            identity=self._identity,
            lease=LeasePlace(settings.system_namespace, LEASE) if settings.leader_elect else None,
            begin=self._control,
        )

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
        from operator_controller.metrics import Metrics, Readings

        controllers = self._controllers
        if controllers is None:
            waiting = Readings(answers=self._client.answers, lease=LEASE)
            return families(Metrics(), waiting)
        return families(controllers.metrics, controllers.readings())

    def _control(self, group: asyncio.TaskGroup) -> Manager:
        # Imported once this process works: one that waits for the lease is small, and soon ready.
        from operator_controller.wiring import Controllers

        settings, client = self._settings, self._client
        self._controllers = Controllers(settings, client, instance=self._identity)
        if settings.serving is not None:
            group.create_task(_certificate_issuer(settings, client).run())
        group.create_task(self._controllers.run(self._access))
        return self._controllers.manager


def _certificate_files(settings: Settings, client: KubeClient) -> "CertificateFiles | None":
    serving = settings.serving
    if serving is None:
        return None
    from olm_runtime.certificates.serving import CertificateFiles

    return CertificateFiles(
        client,
        settings.system_namespace,
        serving.certificates,
        serving.folder,
        settle=settings.certificate_settle,
    )


def _certificate_issuer(settings: Settings, client: KubeClient) -> "CertificateIssuer":
    from olm_runtime.certificates.serving import CertificateIssuer
    from olm_runtime.clocks import utc_now
    from operator_controller.io.certificates import rotation

    return CertificateIssuer(
        client,
        settings.system_namespace,
        settings.serving.certificates if settings.serving else (),
        rotation=rotation(settings.certificate_lifetime, settings.certificate_settle, utc_now),
        field_manager="operator-controller",
    )


if __name__ == "__main__":
    main(parse_settings())
