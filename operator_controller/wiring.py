"""Both stories and their queues, wired to each other."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping

from api.objects import KubeObject, ObjectKey, name_of
from api.olm.v1 import names
from olm_content.render.options import Features
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from olm_rollout.probes import Gate
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.priority import Priority, PriorityGate
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.controller.workqueue import Backoff, WorkQueue
from olm_runtime.kube.client import KubeClient
from olm_runtime.metrics.controllers import Queue
from olm_runtime.program import utc_now
from olm_runtime.registry.cluster_pulls import ClusterPulls
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.registry.settings import PullSettings
from olm_runtime.watch.store import Event, Store, without_managed_fields
from olm_runtime.watch.watcher import Source
from operator_controller.apply.owners import APPLIER
from operator_controller.apply.revisions import Revision
from operator_controller.controllers.catalog_changes import CatalogChanges
from operator_controller.controllers.cluster_operator import ClusterOperatorController
from operator_controller.controllers.extension import EXTENSION, ExtensionController
from operator_controller.controllers.object_set import ObjectSetController
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.controllers.preflight import Preflight
from operator_controller.controllers.triggers import Triggers
from operator_controller.io.accounts import Accounts
from operator_controller.io.bundles import BundleSource
from operator_controller.io.catalogs import CATALOG, CatalogClient
from operator_controller.io.certificates import RevisionCertificates, rotation
from operator_controller.io.revisions import OBJECT_SET, RevisionStore
from operator_controller.metrics import Metrics, Readings
from operator_controller.settings import Settings

CONTROLLER = "olm.operatorframework.io/operator-controller"
LEASE = "9c4404e7.operatorframework.io"
RESYNC_SECONDS = 600.0
CATALOG_WORKERS = 2
OTHERS_STATUS_SECONDS = 1.0
"""Whoever insists on a status of his own is not written over more often."""
LONGEST_APPLY_DELAY_SECONDS = 30.0
"""An object that somebody else had is taken this soon after it was freed."""

log = logging.getLogger(__name__)


class Pulls:
    """How images are pulled: the store of them, and what changes while it is in use."""

    def __init__(self, settings: Settings, client: KubeClient) -> None:
        self._settings = settings
        self.secrets = PullSecrets.of_this_program(
            client,
            global_secret=settings.global_pull_secret,
            prefix="operator-controller-global-pull-secrets-",
        )
        self.cluster = ClusterPulls(client, settings.system_namespace)
        self.images = ImageStore(settings.cache_path / "unpack", self._of_now, jitter=random.random)

    def _of_now(self) -> PullSettings:
        return PullSettings(
            cas_dir=self._settings.pull_cas_dir,
            auth_file=self.secrets.file,
            cluster=self.cluster.settings,
            limits=self._settings.limits,
        )

    async def refresh(self) -> None:
        """Learns the secrets and the cluster's settings as they are at the moment."""
        await self.secrets.refresh()
        await self.cluster.refresh()

    async def close(self) -> None:
        """Ends what it began, and removes the secrets' file."""
        self.secrets.close()
        await self.cluster.close()


class Stores:
    """The objects of our own kinds, as the watches of this process know them."""

    def __init__(self) -> None:
        self.extensions = Store(without_managed_fields)
        self.object_sets = Store(without_managed_fields)
        self.catalogs = Store(without_managed_fields)

    def update(self, obj: KubeObject) -> None:
        """Takes in an extension or a ClusterObjectSet as the server answered it."""
        is_extension = obj["kind"] == names.CLUSTER_EXTENSION
        (self.extensions if is_extension else self.object_sets).update(obj)


class Controllers:
    """Both stories and their queues, wired to each other."""

    def __init__(
        self,
        settings: Settings,
        client: KubeClient,
        stores: Stores,
        catalogs: CatalogClient,
        events: EventBroadcaster,
    ) -> None:
        self._client = client
        self._stores = stores
        self._workers = settings.workers
        self._catalogs = catalogs
        self.metrics = Metrics()
        self.pulls = Pulls(settings, client)
        self._bundles = BundleSource(
            self.pulls.images,
            self.pulls.refresh,
            client,
            settings.certificate_provider,
            _features(settings.gates),
        )
        self.watches = ManagedWatches(self._managed, APPLIER)
        self._statuses = StatusWriter(client, stores.update)
        self.accounts = Accounts(client, self._account_changed)
        self._store = RevisionStore(
            client, stores.object_sets, settings.system_namespace, wrote=self._wrote
        )
        object_set = self._object_set_controller(settings)
        extension = self._extension_controller(settings, events, object_set.retire)
        backoff, gate = Backoff(random.random), PriorityGate()
        self.extensions = WorkQueue(
            extension.reconcile,
            report=extension.tell_failure,
            backoff=backoff,
            workers=settings.workers,
            gate=gate,
        )
        self.object_sets = WorkQueue(
            object_set.reconcile,
            report=object_set.tell_failure,
            backoff=Backoff(random.random, longest=LONGEST_APPLY_DELAY_SECONDS),
            workers=settings.workers,
            gate=gate,
        )
        index = PackageIndex()
        changes = CatalogChanges(catalogs, index, self.extensions.add)
        self.catalogs = WorkQueue(changes.reconcile, backoff=backoff, workers=CATALOG_WORKERS)
        self.triggers = Triggers(
            self.extensions.add,
            self.object_sets.add,
            self.catalogs.add,
            object_set.news.notice,
            index,
            self._statuses,
            self._look_again,
        )
        self.cluster_operator = ClusterOperatorController(
            client,
            self._store,
            backoff=backoff,
            clock=utc_now,
            namespace=settings.system_namespace,
            release=settings.release,
        )

    def _extension_controller(
        self, settings: Settings, events: EventBroadcaster, retire: Callable[[Revision], bool]
    ) -> ExtensionController:
        return ExtensionController(
            client=self._client,
            catalogs=self._catalogs,
            bundles=self._bundles,
            store=self._store,
            statuses=self._statuses,
            accounts=self.accounts,
            watches=self.watches,
            checks=Preflight(self._client, settings.gates["PreflightPermissions"]),
            events=events,
            metrics=self.metrics,
            clock=utc_now,
            monotonic=time.monotonic,
            retire=retire,
            departs=self._departs,
            allow_controller_identity=settings.allow_controller_identity,
        )

    def _object_set_controller(self, settings: Settings) -> ObjectSetController:
        return ObjectSetController(
            client=self._client,
            store=self._store,
            statuses=self._statuses,
            watches=self.watches,
            gate=_gate(wait_for_workloads=settings.gates["BoxcutterRuntime"]),
            certificates=RevisionCertificates(
                rotation(settings.certificate_lifetime, settings.certificate_settle, utc_now)
            ),
            clock=utc_now,
            monotonic=time.monotonic,
            ring=self._ring_set,
            departs=self._departs,
            allow_controller_identity=settings.allow_controller_identity,
        )

    async def retry_pulls(self) -> None:
        """Has every extension looked at: what could not be pulled may be there. Raises ApiError."""
        found, _ = await self._client.list_all(EXTENSION, metadata_only=True)
        for obj in found:
            self.extensions.add(name_of(obj))

    def _managed(self, owner: OwnerKey, key: ObjectKey) -> None:
        self.triggers.managed(owner, key)

    def _wrote(self, object_set: KubeObject) -> None:
        self.triggers.wrote(object_set)

    def _departs(self, obj: KubeObject) -> None:
        self.triggers.departs(obj)

    def _ring_set(self, name: str, seconds: float) -> None:
        self.object_sets.add(name, after=seconds)

    def _account_changed(self, extension: str) -> None:
        self.extensions.add(extension)

    def _look_again(self, obj: KubeObject) -> None:
        queue = self.extensions if obj["kind"] == names.CLUSTER_EXTENSION else self.object_sets
        queue.add(name_of(obj), after=OTHERS_STATUS_SECONDS)

    def sources(self) -> list[Source]:
        """What to watch, once each store calls its event handlers."""
        stores, triggers = self._stores, self.triggers
        stores.extensions.add_event_handler(_handler(triggers.extension))
        stores.object_sets.add_event_handler(_handler(self._object_set_changed))
        stores.catalogs.add_event_handler(_handler(triggers.catalog))
        return [
            Source(EXTENSION, "clusterextensions", stores.extensions),
            Source(OBJECT_SET, "clusterobjectsets", stores.object_sets),
            Source(CATALOG, "clustercatalogs", stores.catalogs),
        ]

    def _object_set_changed(self, event: str, obj: KubeObject) -> None:
        self.cluster_operator.heard(obj)
        self.triggers.object_set(event, obj)

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
            failed = await attempt(self._look_at_everything(), "the periodic look at everything")
            if failed is not None:
                log.warning("the periodic look at everything failed: %s", failed.message)

    async def _look_at_everything(self) -> None:
        """Raises ApiError, DiskError."""
        queues = {names.CLUSTER_EXTENSION: self.extensions}
        queues[names.CLUSTER_OBJECT_SET] = self.object_sets
        self.cluster_operator.look_anew()
        for kind, name in self.watches.owners():
            queues[kind].add(name, priority=Priority.LOW)
        for gvk in (EXTENSION, OBJECT_SET):
            found, _ = await self._client.list_all(gvk, metadata_only=True)
            for obj in found:
                queues[gvk.kind].add(name_of(obj), priority=Priority.LOW)
            if gvk == EXTENSION:
                existing = [name_of(obj) for obj in found]
                self.metrics.keep(existing)
                await self._bundles.collect(existing)


def _handler(handle: Callable[[str, KubeObject], None]) -> Callable[[Event[KubeObject]], None]:
    """Has `handle` called with ADDED, MODIFIED, DELETED or "" (listed at first), and the object."""
    return lambda event: handle("" if event.initial else event.type, event.object)


def _features(gates: Mapping[str, bool]) -> Features:
    return Features(
        single_own_namespace_install_support=gates["SingleOwnNamespaceInstallSupport"],
        deployment_config=gates["DeploymentConfig"],
        webhook_provider_cert_manager=gates["WebhookProviderCertManager"],
        webhook_provider_openshift_service_ca=gates["WebhookProviderOpenshiftServiceCA"],
    )


def _gate(*, wait_for_workloads: bool) -> Gate:
    """CRDs and namespaces are always waited for: what comes after them needs them."""
    always = {("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "Namespace")}
    return lambda gvk: wait_for_workloads or (gvk.group, gvk.kind) in always
