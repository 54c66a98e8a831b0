"""Wiring and start-up of operator-controller."""

import asyncio
import logging
import random
import socket
import uuid
from collections.abc import Callable

from api.v1 import names
from olm_shared.kube_object import KubeObject, ObjectKey, name_of
from olm_shared.runtime.access import ClusterAccess, load_access
from olm_shared.runtime.api_errors import ApiError
from olm_shared.runtime.cluster_pulls import ClusterPulls
from olm_shared.runtime.credentials import PullSecrets
from olm_shared.runtime.doorbell import Bell, Doorbell, Ring
from olm_shared.runtime.image_store import ImageStore
from olm_shared.runtime.kube import KubeClient
from olm_shared.runtime.leader import Elector
from olm_shared.runtime.memory import keep_large_blocks_apart, keep_small, share_one_arena
from olm_shared.runtime.precedence import Precedence
from olm_shared.runtime.program import (
    configure_logging,
    run,
    serve_health,
    utc_now,
    wait_until_served,
)
from olm_shared.runtime.registry import PullSettings
from olm_shared.runtime.workqueue import Backoff, WorkQueue
from operator_controller.controllers.catalog_news import CatalogNews
from operator_controller.controllers.cluster_operator import ClusterOperatorController
from operator_controller.controllers.extension import EXTENSION, ExtensionController
from operator_controller.controllers.object_set import ObjectSetController
from operator_controller.controllers.preflight import Preflight
from operator_controller.controllers.triggers import Triggers
from operator_controller.controllers.wants import Wants
from operator_controller.io.bundles import BundleSource
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogs import CATALOG, CatalogClient
from operator_controller.io.certificate_issuer import issuer
from operator_controller.io.certificates import CertificateKeeper
from operator_controller.io.events import Announcer
from operator_controller.io.metrics_server import serve_metrics
from operator_controller.io.revisions import OBJECT_SET, RevisionStore
from operator_controller.io.serving_certificates import CertificateFiles, CertificateIssuer
from operator_controller.io.watches import ManagedWatches, OwnerKey
from operator_controller.metrics import Metrics, Queue, Readings, exposition
from operator_controller.observe.probes import Gate
from operator_controller.settings import MetricsSettings, Settings, parse_settings

LEASE = "9c4404e7.operatorframework.io"
RESYNC_SECONDS = 600.0
CATALOG_WORKERS = 2
LONGEST_APPLY_DELAY_SECONDS = 30.0
"""An object that somebody else had is taken this soon after it was freed."""

log = logging.getLogger(__name__)


def main() -> None:
    """The console script `operator-controller`."""
    share_one_arena()
    keep_large_blocks_apart()
    settings = parse_settings()
    configure_logging(settings.log_level)
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled: health at once, the controllers while leading."""
    access = load_access(settings.kubeconfig)
    ready = asyncio.Event()
    async with KubeClient.connect(access) as client, asyncio.TaskGroup() as group:
        process = _Process(settings, access, client, ready)
        group.create_task(serve_health(settings.health_address, {"controllers": ready.is_set}))
        if process.files is not None:
            group.create_task(process.files.follow())
        if settings.metrics is not None:
            group.create_task(process.serve_metrics(settings.metrics))
        group.create_task(process.lead())
        group.create_task(keep_small())


class _Process:
    """This replica: it waits for the lease, controls while it has it, and tells how it does."""

    def __init__(
        self, settings: Settings, access: ClusterAccess, client: KubeClient, ready: asyncio.Event
    ) -> None:
        self._settings = settings
        self._access = access
        self._client = client
        self._ready = ready
        self._identity = f"{socket.gethostname()}_{uuid.uuid1()}"
        self._controllers: _Controllers | None = None
        self.files = _certificate_files(settings, client)

    async def serve_metrics(self, wanted: MetricsSettings) -> None:
        """Tells how it does, whether it leads or not."""
        if self.files is not None:
            await self.files.complete.wait()
        await serve_metrics(
            wanted.address,
            (wanted.tls_cert, wanted.tls_key),
            self._settings.tls_profile,
            client=self._client,
            text=self._metrics,
        )

    def _metrics(self) -> str:
        controllers = self._controllers
        if controllers is None:
            waiting = Readings(answers=self._client.answers, lease=LEASE)
            return exposition(Metrics(), waiting)
        return exposition(controllers.metrics, controllers.readings())

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
        for kind in (EXTENSION, OBJECT_SET, CATALOG):
            await wait_until_served(client, kind)
        catalogs = CatalogClient(
            client,
            Catalogd(settings.catalogd_cas_dir, settings.tls_profile),
            CatalogCache(settings.cache_path / "catalogs"),
        )
        events = Announcer(client, instance=self._identity)
        controllers = self._controllers = _Controllers(settings, client, catalogs, events)
        try:
            async with asyncio.TaskGroup() as group:
                if settings.serving is not None:
                    group.create_task(_certificate_issuer(settings, client).run())
                group.create_task(controllers.extensions.run())
                group.create_task(controllers.object_sets.run())
                group.create_task(controllers.catalogs.run())
                group.create_task(controllers.cluster_operator.run())
                group.create_task(events.run())
                group.create_task(Doorbell(self._access, controllers.bells()).run())
                group.create_task(controllers.resync())
                again = controllers.cluster_pulls.act_on_changes(controllers.retry_pulls)
                group.create_task(again)
                self._ready.set()
        finally:
            await controllers.watches.close()
            await catalogs.close()
            controllers.secrets.close()
            await controllers.cluster_pulls.close()


class _Controllers:
    """Both stories and their queues, wired to each other."""

    def __init__(
        self,
        settings: Settings,
        client: KubeClient,
        catalogs: CatalogClient,
        events: Announcer,
    ) -> None:
        self._client = client
        self._workers = settings.workers
        self._catalogs = catalogs
        self.metrics = Metrics()
        store = self._store = RevisionStore(client, settings.system_namespace, wrote=self._wrote)
        self.secrets = PullSecrets.of_this_program(
            client,
            global_secret=settings.global_pull_secret,
            prefix="operator-controller-global-pull-secrets-",
        )
        self.cluster_pulls = ClusterPulls(client, settings.system_namespace)
        images = ImageStore(
            settings.cache_path / "unpack",
            lambda: PullSettings(
                cas_dir=settings.pull_cas_dir,
                auth_file=self.secrets.file,
                cluster=self.cluster_pulls.settings,
                limits=settings.limits,
            ),
            jitter=random.random,
        )
        self.watches = ManagedWatches(self._managed)
        extension = ExtensionController(
            client=client,
            catalogs=catalogs,
            bundles=BundleSource(
                images, self._refresh_pulls, client, settings.certificate_provider
            ),
            store=store,
            watches=self.watches,
            checks=Preflight(client, settings.gates["PreflightPermissions"]),
            events=events,
            metrics=self.metrics,
            clock=utc_now,
            allow_controller_identity=settings.allow_controller_identity,
        )
        object_set = ObjectSetController(
            client=client,
            store=store,
            watches=self.watches,
            gate=_gate(wait_for_workloads=settings.gates["BoxcutterRuntime"]),
            certificates=CertificateKeeper(
                issuer(settings.certificate_lifetime), settings.certificate_settle, utc_now
            ),
            clock=utc_now,
            ring=self._ring_set,
            allow_controller_identity=settings.allow_controller_identity,
        )
        backoff, precedence = Backoff(random.random), Precedence()
        self.extensions = WorkQueue(
            extension.reconcile,
            backoff=backoff,
            workers=settings.workers,
            precedence=precedence,
        )
        self.object_sets = WorkQueue(
            object_set.reconcile,
            backoff=Backoff(random.random, longest=LONGEST_APPLY_DELAY_SECONDS),
            workers=settings.workers,
            precedence=precedence,
        )
        self.cluster_operator = ClusterOperatorController(
            client,
            store,
            backoff=backoff,
            clock=utc_now,
            namespace=settings.system_namespace,
            release=settings.release,
        )
        wants = Wants()
        news = CatalogNews(catalogs, wants, self.extensions.add)
        self.catalogs = WorkQueue(news.reconcile, backoff=backoff, workers=CATALOG_WORKERS)
        self.triggers = Triggers(
            self.extensions.add, self.object_sets.add, self.catalogs.add, object_set.notice, wants
        )

    async def _refresh_pulls(self) -> None:
        await self.secrets.refresh()
        await self.cluster_pulls.refresh()

    async def retry_pulls(self) -> None:
        """Has every extension looked at: what could not be pulled may be there. Raises ApiError."""
        found, _ = await self._client.list_all(EXTENSION, metadata_only=True)
        for obj in found:
            self.extensions.add(name_of(obj))

    def _managed(self, owner: OwnerKey, key: ObjectKey) -> None:
        self.triggers.managed(owner, key)

    def _wrote(self, object_set: KubeObject) -> None:
        self.triggers.wrote(object_set)

    def _ring_set(self, name: str, seconds: float) -> None:
        if seconds > 0:
            self.object_sets.add_after(name, seconds)
        else:
            self.object_sets.add(name)

    def bells(self) -> list[Bell]:
        """What to watch, and whom to tell."""
        ring = self.triggers
        return [
            Bell(names.GROUP, names.VERSION, "clusterextensions", ring.extension),
            Bell(
                names.GROUP,
                names.VERSION,
                "clusterobjectsets",
                _first(self._store.heard, self.cluster_operator.heard, ring=ring.object_set),
            ),
            Bell(
                names.GROUP,
                names.VERSION,
                "clustercatalogs",
                _first(self._catalogs.heard, ring=ring.catalog),
            ),
        ]

    def readings(self) -> Readings:
        """What there is to tell beside the extensions."""
        return Readings(
            queues={
                "controller-operator-cluster-extension-controller": Queue(
                    self.extensions.meter, self._workers
                ),
                "controller-operator-clusterobjectset-controller": Queue(
                    self.object_sets.meter, self._workers
                ),
                "controller-operator-clustercatalog-controller": Queue(
                    self.catalogs.meter, CATALOG_WORKERS
                ),
            },
            answers=self._client.answers,
            lookups={found.value: count for found, count in self._catalogs.lookups.items()},
            watches=self.watches.running(),
            lease=LEASE,
            leading=True,
            now=asyncio.get_running_loop().time(),
        )

    async def resync(self) -> None:
        """Looks at everything from time to time: a deletion during an outage rings no bell."""
        while True:
            await asyncio.sleep(RESYNC_SECONDS)
            queues = {names.CLUSTER_EXTENSION: self.extensions}
            queues[names.CLUSTER_OBJECT_SET] = self.object_sets
            self.cluster_operator.look_anew()
            for kind, name in self.watches.owners():
                queues[kind].add(name, hurry=False)
            try:
                for gvk in (EXTENSION, OBJECT_SET):
                    found, _ = await self._client.list_all(gvk, metadata_only=True)
                    for obj in found:
                        queues[gvk.kind].add(name_of(obj), hurry=False)
                    if gvk == EXTENSION:
                        self.metrics.keep([name_of(obj) for obj in found])
            except ApiError as error:
                log.warning("cannot list for the periodic look at everything: %s", error)


def _first(*heard: Callable[[KubeObject], None], ring: Ring) -> Ring:
    """Notes what an event tells before anybody is told to look."""

    def tell(event: str, obj: KubeObject) -> None:
        for note in heard:
            note(obj)
        ring(event, obj)

    return tell


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
        issue=issuer(settings.certificate_lifetime),
        settle=settings.certificate_settle,
        clock=utc_now,
    )


def _gate(*, wait_for_workloads: bool) -> Gate:
    """CRDs and namespaces are always waited for: what comes after them needs them."""
    always = {("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "Namespace")}
    return lambda gvk: wait_for_workloads or (gvk.group, gvk.kind) in always


if __name__ == "__main__":
    main()
