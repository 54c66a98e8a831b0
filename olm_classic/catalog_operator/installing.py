"""What leads from catalogs and Subscriptions to what is installed, as controllers of a manager."""

from olm_classic.catalog_operator.settings import BundleUnpack, Settings
from olm_classic.controllers.catalog_contents import CatalogContents
from olm_classic.controllers.install_plan import InstallPlans
from olm_classic.controllers.namespace import NamespaceReconciler, Parts
from olm_classic.controllers.namespace_watches import NAMESPACES, Namespaces, registration
from olm_classic.controllers.planner import Planner
from olm_classic.controllers.user_plans import UserPlans
from olm_classic.install_plans.unpack_job import JobSettings
from olm_classic.io.pulls import Pulls
from olm_classic.io.registry import Connections
from olm_classic.io.resolution import Resolver
from olm_classic.io.snapshots import Snapshots
from olm_classic.io.unpack_jobs import JobUnpacker
from olm_classic.io.unpacking import Unpacker
from olm_classic.kinds import CATALOG_SOURCE, SUBSCRIPTION
from olm_classic.metrics import Key, Metrics
from olm_runtime.clocks import utc_now
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_object
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import request_for

CONTENTS = "catalog-contents"


class Installing:
    """The controllers of catalogs' contents, of namespaces and of InstallPlans."""

    def __init__(
        self,
        manager: Manager,
        settings: Settings,
        connections: Connections,
        metrics: Metrics,
        pulls: Pulls,
    ) -> None:
        self._manager = manager
        self._settings = settings
        self._metrics = metrics
        sources = manager.store(CATALOG_SOURCE)
        self._namespaces = Namespaces(manager.store(SUBSCRIPTION), settings.global_namespace)
        self._contents = CatalogContents(
            sources,
            connections,
            Snapshots(settings.cache_path / "contents"),
            self._content_changed,
            metrics,
        )
        self._resolver = Resolver(settings.dialect)
        self._unpacker = self._unpacks(pulls)
        planner = Planner(self._unpacker, connections, seconds=settings.bundle_unpack_seconds)
        parts = Parts(self._contents, self._resolver, planner, metrics)
        self._reconciler = NamespaceReconciler(
            manager, parts, global_namespace=settings.global_namespace, clock=utc_now
        )
        self._user_plans = UserPlans(
            manager, parts, global_namespace=settings.global_namespace, clock=utc_now
        )

    def registrations(self) -> list[Registration]:
        """The controllers as a manager runs them."""
        plans = InstallPlans(
            self._manager,
            self._metrics,
            clock=utc_now,
            retry_seconds=self._settings.install_plan_retry_seconds,
            system_namespace=self._settings.system_namespace,
        )
        contents = Registration(
            name=CONTENTS,
            reconciler=self._contents,
            watches=[Watch(CATALOG_SOURCE, _enqueue_deleted)],
        )
        return [
            contents,
            registration(self._manager, self._reconciler, self._namespaces),
            self._user_plans.registration(),
            plans.registration(),
        ]

    def _unpacks(self, pulls: Pulls) -> Unpacker | JobUnpacker:
        client, sources = self._manager.client, self._manager.store(CATALOG_SOURCE)
        settings = self._settings
        if settings.bundle_unpack is BundleUnpack.PROCESS:
            return Unpacker(client, sources, settings.cache_path / "bundles", pulls.of_bundles)
        pods = settings.pods
        made = JobSettings(opm=pods.images.opm, util=pods.images.util, user=pods.workload_user)
        return JobUnpacker(client, sources, made, utc_now)

    def take_content(self, catalog: Key) -> None:
        """The connection to a catalog is ready: its content may be new."""
        self._manager.enqueue(CONTENTS, request_for(catalog[1], catalog[0]))

    def prepare(self) -> None:
        """Starts what takes a while to start; to be called in the event loop."""
        self._resolver.prepare()

    async def close(self) -> None:
        """Ends what was begun."""
        await self._unpacker.close()
        await self._resolver.close()

    def _content_changed(self, catalog: Key) -> None:
        for namespace in self._namespaces.seeing(catalog[0]):
            self._manager.enqueue(NAMESPACES, namespace)
        self._user_plans.take_content(catalog)


def _enqueue_deleted(event: Change, enqueue: Enqueue) -> None:
    if event.new is None:
        enqueue_object(event, enqueue)
