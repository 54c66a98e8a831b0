"""Wiring and start-up of catalogd."""

import asyncio
import logging
import random
import socket
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.applications import Starlette

from api.olm.v1.kinds import CATALOG
from catalogd.follow import CatalogFollower
from catalogd.http.app import content_app, webhook_app
from catalogd.io.cluster import Cluster
from catalogd.io.images import Images, ImageSettings
from catalogd.io.store import Store
from catalogd.metrics import Metrics
from catalogd.plan import is_wanted
from catalogd.reconcile import CatalogSteps
from catalogd.settings import Settings, parse_settings
from olm_catalogs.job import CATALOGS_FOLDER, UNPACK_FOLDER
from olm_runtime.clocks import steady_clock, utc_now
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_object
from olm_runtime.controller.leader import Elector, LeasePlace
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.reconciler import Reconciler
from olm_runtime.controller.requests import Request
from olm_runtime.disk import disk_errors
from olm_runtime.errors import TransientError
from olm_runtime.folders import collect
from olm_runtime.http.health import serve_health
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.kube.access import load_access
from olm_runtime.kube.callers import Callers
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.waiting import until_answered, wait_until_served
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_small, share_one_arena
from olm_runtime.outcome import Failed, Outcome, Retry
from olm_runtime.program import run
from olm_runtime.registry.cluster_pulls import ClusterPulls
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.tracing import start_tracing

LEASE = "catalogd-operator-lock"
CONTROLLER = "olm.operatorframework.io/catalogd"
CATCH_UP_SECONDS = 60.0
"""How long a replica without the content that others serve waits for it before it says that it is
ready. Not for ever: without its registry a catalog could not even be changed, as our webhook is in
the way of that."""

log = logging.getLogger(__name__)


def main(settings: Settings) -> None:
    """The console script `catalogd`."""
    share_one_arena()
    configure_logging(settings.log_level, settings.log_format)
    if settings.tracing:
        start_tracing("catalogd")
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled: serves at once, follows the cluster, and leads when elected."""
    access = load_access(settings.kubeconfig)
    with disk_errors("make the cache folder", settings.cache_dir):
        settings.cache_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with KubeClient.connect(access) as client:
        program = Program.build(settings, client)
        try:
            async with asyncio.TaskGroup() as group:
                program.start_servers(group)
                await program.restore()
                program.start_work(group, access)
        finally:
            program.images.close()
            program.store.close()
            program.secrets.close()
            await program.cluster_pulls.close()


class Replica:
    """Reconciles catalogs as this replica's role is: one leads, all others follow."""

    def __init__(self, leader: Reconciler, follower: Reconciler) -> None:
        self.leading = False
        self.behind: set[str] = set()
        """Catalogs that other replicas may serve and this one does not yet."""
        self._leader = leader
        self._follower = follower

    @property
    def _role(self) -> Reconciler:
        return self._leader if self.leading else self._follower

    async def reconcile(self, name: Request) -> Outcome:
        """One reconcile. Raises OLMError."""
        outcome = await self._role.reconcile(name)
        if not isinstance(outcome, Retry):
            self.behind.discard(name)
        return outcome

    async def report_failure(self, name: Request, failed: Failed) -> None:
        """As the role has it."""
        await self._role.report_failure(name, failed)


@dataclass(slots=True)
class Program:
    """All parts of the process."""

    settings: Settings
    client: KubeClient
    cluster: Cluster
    store: Store
    images: Images
    secrets: PullSecrets
    cluster_pulls: ClusterPulls
    replica: Replica
    metrics: Metrics
    manager: Manager
    instance: str
    restored_at: float | None = None

    @classmethod
    def build(cls, settings: Settings, client: KubeClient) -> "Program":
        """The parts, none of them at work."""
        instance = f"{socket.gethostname()}_{uuid.uuid1()}"
        cluster, metrics = Cluster(client), Metrics()
        store = Store(settings.cache_dir / CATALOGS_FOLDER, shaped=settings.graphql)
        secrets = PullSecrets.of_this_program(
            client,
            global_secret=settings.global_pull_secret,
            prefix="catalogd-global-pull-secret-",
        )
        cluster_pulls = ClusterPulls(client, settings.system_namespace)
        images = Images(
            _image_settings(settings, secrets, cluster_pulls), metrics, settings.pull_cas_dir
        )
        events = EventBroadcaster(client, controller=CONTROLLER, instance=instance)
        manager = Manager(client, events=events, clock=utc_now, jitter=random.random)
        steps = CatalogSteps(
            cluster, store, images, settings.base_url, steady_clock(), random.random
        )
        program = cls(
            settings=settings,
            client=client,
            cluster=cluster,
            store=store,
            images=images,
            secrets=secrets,
            cluster_pulls=cluster_pulls,
            replica=Replica(
                leader=manager.reconciler(steps.controller()),
                follower=CatalogFollower(cluster, store, images),
            ),
            metrics=metrics,
            manager=manager,
            instance=instance,
        )
        manager.register(program._registration())
        return program

    def _registration(self) -> Registration:
        return Registration(
            name="catalogd-clustercatalog-controller",
            reconciler=self.replica,
            watches=[Watch(CATALOG, self.enqueue_catalog)],
            resync=self.names,
        )

    def start_servers(self, group: asyncio.TaskGroup) -> None:
        """Everything that listens, before anything that works: restarts are to be short."""
        settings = self.settings
        tls = ServerTls(settings.tls_cert, settings.tls_key, settings.tls_profile)
        content = content_app(
            self.store.find, self.metrics, metas=settings.metas, graphql=settings.graphql
        )
        listener = listen(settings.catalogs_address)
        group.create_task(serve_http(content, listener, tls.context))
        group.create_task(tls.follow())
        if settings.webhook_port:
            listener = listen(("", settings.webhook_port))
            group.create_task(serve_http(webhook_app(), listener, tls.context))
        if settings.metrics_address:
            listener = listen(settings.metrics_address)
            group.create_task(serve_http(self._metrics_page(), listener, tls.context))
        alive, ready = {"watches": self.manager.is_alive}, {"catalog-server": self._is_ready}
        group.create_task(serve_health(settings.health_address, alive=alive, ready=ready))

    def _metrics_page(self) -> Starlette:
        # Imported here: prometheus_client takes time and memory.
        from catalogd.http.exposition import families
        from olm_runtime.http.metrics_page import metrics_page

        callers = Callers(self.client, field_manager="catalogd")
        return metrics_page(lambda: families(self.metrics, self.store.served()), callers.judge)

    def _is_ready(self) -> bool:
        """A replica that joins others is asked as they are: it must have what they have."""
        if self.restored_at is None:
            return False
        return not self.replica.behind or time.monotonic() > self.restored_at + CATCH_UP_SECONDS

    async def restore(self) -> None:
        """Serves what is on disk and is what the status says, without asking any registry."""
        await wait_until_served(self.client, CATALOG)
        catalogs = await until_answered("reading all catalogs", self.cluster.catalogs)
        existing = await until_answered("listing all catalogs", self.cluster.names)
        sources = {
            catalog.metadata.name: catalog.status.resolved_source.image.ref
            for catalog in catalogs
            if is_wanted(catalog) and catalog.status.resolved_source is not None
        }
        loads = (self.store.load(name, source=source) for name, source in sources.items())
        await asyncio.gather(*loads)
        failed = await attempt(self._collect(existing, interrupted=True), "collection at the start")
        if failed is not None:
            log.warning("what is not needed any more stays on disk: %s", failed.message)
        self.replica.behind = set(sources) - set(self.store.names())
        self.restored_at = time.monotonic()
        log.info("serving %d of %d catalogs from disk", len(self.store.names()), len(existing))

    def start_work(self, group: asyncio.TaskGroup, access: ClusterAccess) -> None:
        """Every replica watches the catalogs; one leads."""
        group.create_task(self.manager.run(access))
        group.create_task(self._collect_again_and_again(self.settings.gc_interval))
        group.create_task(keep_small())
        group.create_task(self.cluster_pulls.act_on_changes(self.manager.resync))
        group.create_task(self.lead())

    def enqueue_catalog(self, event: Change, enqueue: Enqueue) -> None:
        """Followers act on the status that the leader writes; the leader does not on its own."""
        if self.replica.leading:
            self.manager.enqueue_changed(event, enqueue)
        else:
            enqueue_object(event, enqueue)

    async def lead(self) -> None:
        """Leads until cancelled, at once or when elected. Raises LostLeadershipError."""
        if not self.settings.leader_elect:
            await self._work_as_leader()
            return
        lease = LeasePlace(self.settings.system_namespace, LEASE)
        elector = Elector(self.client, lease=lease, identity=self.instance)
        await elector.run(self._work_as_leader)

    async def _work_as_leader(self) -> None:
        self.replica.leading = True
        if not self.store.names():  # a new one, which is to get its first catalogs soon
            self._prepare()
        await until_answered("listing all catalogs", self.manager.resync)
        await asyncio.Event().wait()

    def _prepare(self) -> None:
        try:
            self.images.prepare()
        except TransientError as error:
            log.warning("nothing is loaded before the first catalog: %s", error.message)

    async def names(self) -> set[str]:
        """Every catalog that there is or that is stored here: one may be gone. Raises ApiError."""
        existing = await self.cluster.names()
        self.metrics.keep(existing)
        return {*existing, *self.store.names()}

    async def _collect_existing(self) -> None:
        await self._collect(await self.cluster.names(), interrupted=False)

    async def _collect(self, existing: list[str], *, interrupted: bool) -> None:
        await self.store.collect(existing)
        unpack = self.settings.cache_dir / UNPACK_FOLDER
        with disk_errors("remove what is not unpacked any more", unpack):
            await asyncio.to_thread(collect, unpack, existing, interrupted=interrupted)

    async def _collect_again_and_again(self, seconds: float) -> None:
        while seconds > 0:
            await asyncio.sleep(seconds)
            failed = await attempt(self._collect_existing(), "the collection of what is not needed")
            if failed is not None:
                log.warning("what is not needed any more stays on disk: %s", failed.message)


def _image_settings(
    settings: Settings, secrets: PullSecrets, cluster_pulls: ClusterPulls
) -> Callable[[], Awaitable[ImageSettings]]:
    """Those of the next pull: secrets and the cluster's settings are read again."""

    async def current() -> ImageSettings:
        await secrets.refresh()
        await cluster_pulls.refresh()
        return ImageSettings(
            cache_dir=settings.cache_dir,
            cas_dir=settings.pull_cas_dir,
            auth_file=secrets.file,
            cluster=cluster_pulls.settings,
            limits=settings.limits,
            document_bytes=settings.document_bytes,
            objects=settings.objects,
            shaped=settings.graphql,
        )

    return current


if __name__ == "__main__":
    main(parse_settings())
