"""A process with controllers: health at once, metrics, and the controllers while it leads."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from olm_runtime.controller.leader import LeasePlace
from olm_runtime.controller.manager import Manager
from olm_runtime.daemon.settings import ControllerSettings, Metrics
from olm_runtime.http.health import health_routes
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.kube.access import load_access
from olm_runtime.kube.callers import Callers
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_large_blocks_apart, keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.replica import Replica, process_identity
from olm_runtime.tracing import start_tracing

if TYPE_CHECKING:  # imported once metrics are asked for: it takes time and memory
    from prometheus_client.metrics_core import Metric
    from starlette.applications import Starlette


class Controllers(Protocol):
    """What a program runs while it leads."""

    manager: Manager

    def run(self, access: ClusterAccess) -> Coroutine[Any, Any, None]:
        """Works until cancelled."""


C = TypeVar("C", bound=Controllers)
S = TypeVar("S", bound=ControllerSettings)


@dataclass(frozen=True, slots=True)
class Program(Generic[S, C]):
    """A program of which one process works, and the others wait for its lease.

    begin     makes the controllers of settings, with the identity of the process
    families  the metrics; without controllers, too
    makes_namespace  whether it makes the namespace of its lease, which comes with what it installs
    """

    name: str
    lease: str
    begin: Callable[[S, KubeClient, str], C]
    families: Callable[[C | None, KubeClient], "Iterator[Metric]"]
    makes_namespace: bool = False

    def run(self, settings: S) -> None:
        """Runs until it is ended."""
        share_one_arena()
        keep_large_blocks_apart()
        configure_logging(settings.log_level, settings.log_format)
        if settings.tracing:
            start_tracing(self.name)
        run(lambda: self.serve(settings))

    async def serve(self, settings: S) -> None:
        """Runs until cancelled."""
        access = load_access(settings.kubeconfig)
        async with KubeClient.connect(access) as client, asyncio.TaskGroup() as group:
            process = _Process(self, settings, access, client)
            group.create_task(process.replica.serve_health(settings.health_address))
            if settings.metrics is not None:
                process.start_metrics(group, settings.metrics)
            group.create_task(process.replica.lead())
            group.create_task(keep_small())


class _Process(Generic[S, C]):
    """This process, and what it runs while it leads."""

    def __init__(
        self,
        program: Program[S, C],
        settings: S,
        access: ClusterAccess,
        client: KubeClient,
    ) -> None:
        self._program = program
        self._settings = settings
        self._access = access
        self._client = client
        self._identity = process_identity()
        lease = LeasePlace(settings.system_namespace, program.lease, program.makes_namespace)
        self._controllers: C | None = None
        self.replica = Replica(
            client,
            identity=self._identity,
            lease=lease if settings.leader_elect else None,
            times=settings.lease_times,
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
        callers = Callers(self._client, field_manager=self._program.name)
        return metrics_page(
            self._families, callers.judge, probes, authorize_certificate=callers.judge_certificate
        )

    def _families(self) -> "Iterator[Metric]":
        return self._program.families(self._controllers, self._client)

    def _control(self, group: asyncio.TaskGroup) -> Manager:
        controllers = self._controllers = self._program.begin(
            self._settings, self._client, self._identity
        )
        group.create_task(controllers.run(self._access))
        return controllers.manager
