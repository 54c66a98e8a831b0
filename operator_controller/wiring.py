"""What operator-controller runs: a row for each controller, and what the controllers share."""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from functools import partial

from api.objects import KubeObject, ObjectKey
from api.olm.v1 import names
from api.olm.v1.kinds import CATALOG, EXTENSION, OBJECT_SET
from olm_content.render.options import Features
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from olm_rollout.probes import Gate
from olm_runtime.clocks import utc_now
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import (
    Manager,
    Registration,
    Watch,
    existing,
)
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.reconciler import Controller
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.registry.image_pulls import Pulls
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.watch.store import Store
from operator_controller.apply.owners import APPLIER
from operator_controller.controllers.catalog_changes import CatalogChanges
from operator_controller.controllers.cluster_operator import ClusterOperatorController
from operator_controller.controllers.context import Context
from operator_controller.controllers.event_handlers import EventHandlers, content_changed
from operator_controller.controllers.extension import Observer, extension_controller
from operator_controller.controllers.extension_deletion import ExtensionDeletion
from operator_controller.controllers.extension_steps import ExtensionSteps
from operator_controller.controllers.object_set import ObjectSetReconciler, object_set_controller
from operator_controller.controllers.object_set_steps import ObjectSetSteps
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.controllers.preflight import Preflight
from operator_controller.controllers.turns import Turns
from operator_controller.io.accounts import Accounts
from operator_controller.io.bundles import BundleSource
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogs import CatalogClient
from operator_controller.io.certificates import RevisionCertificates, rotation
from operator_controller.io.revisions import RevisionStore
from operator_controller.io.system_secrets import SystemSecrets, contents_in, releases_in
from operator_controller.metrics import Metrics, Readings
from operator_controller.settings import LEASE, Settings
from operator_controller.status.cluster_operator import NAME as CLUSTER_OPERATOR_NAME

CONTROLLER = "olm.operatorframework.io/operator-controller"
EXTENSIONS = "cluster-extension"
OBJECT_SETS = "clusterobjectset"
CATALOGS = "clustercatalog"
CLUSTER_OPERATORS = "clusteroperator"
CATALOG_WORKERS = 2
LONGEST_APPLY_DELAY_SECONDS = 30.0
"""An object that somebody else had is taken this soon after it was freed."""


class Controllers:
    """The controllers of this program and what they share."""

    def __init__(self, settings: Settings, client: KubeClient, *, instance: str) -> None:
        """`instance` names this process in Events."""
        self._settings = settings
        self._client = client
        self.metrics = Metrics()
        self.manager = Manager(
            client,
            events=EventBroadcaster(client, controller=CONTROLLER, instance=instance),
            clock=utc_now,
            jitter=random.random,
        )
        self.pulls = _pulls(settings, client)
        self.watches = ManagedWatches(self._managed_object_changed, APPLIER)
        self.accounts = Accounts(client, partial(self.manager.enqueue, EXTENSIONS))
        self.catalogs = _catalog_client(settings, self.manager.store(CATALOG))
        self._store = RevisionStore(
            client,
            self.manager.store(OBJECT_SET),
            settings.system_namespace,
            SystemSecrets(
                self.manager.selected(contents_in(settings.system_namespace)),
                self.manager.selected(releases_in(settings.system_namespace)),
            ),
        )
        self._bundles = BundleSource(
            self.pulls.images,
            self.pulls.refresh,
            client,
            settings.certificate_provider,
            _features(settings.gates),
        )
        self._object_set_steps = self._make_object_set_steps()
        self._handlers = EventHandlers(
            extensions=self.manager.store(EXTENSION),
            object_sets=self.manager.store(OBJECT_SET),
            index=PackageIndex(),
            turns=Turns(time.monotonic),
            own_kind=self.manager.enqueue_changed,
            release=self._store.release,
            on_managed_object=self._object_set_steps.changes.on_event,
        )
        self._cluster_operator = ClusterOperatorController(
            client,
            self._store,
            clock=utc_now,
            namespace=settings.system_namespace,
            release=settings.release,
        )
        for row in self._rows():
            self.manager.register(row)
        self.manager.enqueue(CLUSTER_OPERATORS, CLUSTER_OPERATOR_NAME)

    def _rows(self) -> list[Registration]:
        """A row for each controller: its name, what it does, what it watches."""
        handlers, gate = self._handlers, PriorityGate()
        changes = CatalogChanges(
            self.catalogs,
            handlers.index,
            partial(self.manager.enqueue, EXTENSIONS),
            all_known=lambda: self.manager.store(EXTENSION).synced,
        )
        return [
            Registration(
                name=EXTENSIONS,
                reconciler=self.manager.reconciler(self._extension_controller()),
                watches=[
                    Watch(EXTENSION, handlers.extension),
                    Watch(OBJECT_SET, handlers.extension_of),
                    Watch(CATALOG, handlers.extensions_selecting),
                ],
                resync=self._existing_extensions,
                workers=self._settings.workers,
                gate=gate,
                place=handlers.turns.place,
            ),
            Registration(
                name=OBJECT_SETS,
                reconciler=ObjectSetReconciler(
                    self.manager.reconciler(object_set_controller(self._object_set_steps)),
                    self._object_set_steps.changes,
                ),
                watches=[
                    Watch(OBJECT_SET, handlers.object_set),
                    Watch(EXTENSION, handlers.object_sets_of),
                ],
                resync=self._existing_object_sets,
                workers=self._settings.workers,
                longest_delay=LONGEST_APPLY_DELAY_SECONDS,
                gate=gate,
                place=handlers.place_of_object_set,
            ),
            Registration(
                name=CATALOGS,
                reconciler=changes,
                watches=[Watch(CATALOG, changes.on_event, [content_changed])],
                workers=CATALOG_WORKERS,
            ),
            Registration(
                name=CLUSTER_OPERATORS,
                reconciler=self._cluster_operator,
                watches=[Watch(OBJECT_SET, self._cluster_operator.enqueue_for_object_set)],
                resync=self._cluster_operator.resync,
                workers=1,
            ),
        ]

    def _extension_controller(self) -> Controller[Context]:
        settings = self._settings
        steps = ExtensionSteps(
            client=self._client,
            extensions=self.manager.store(EXTENSION),
            catalogs=self.catalogs,
            bundles=self._bundles,
            store=self._store,
            checks=Preflight(self._client, settings.gates["PreflightPermissions"]),
            accounts=self.accounts,
            allow_controller_identity=settings.allow_controller_identity,
        )
        deletion = ExtensionDeletion(
            store=self._store,
            bundles=self._bundles,
            watches=self.watches,
            monotonic=time.monotonic,
            retire=self._object_set_steps.retire,
            set_free=self._object_set_steps.set_free,
            forget=self._forget_extension(steps),
        )
        return extension_controller(steps, deletion, Observer(self.metrics, utc_now))

    def _forget_extension(self, steps: ExtensionSteps) -> Callable[[str], None]:
        def forget(name: str) -> None:
            self.metrics.forget(name)
            steps.forget(name)

        return forget

    def _make_object_set_steps(self) -> ObjectSetSteps:
        settings = self._settings
        return ObjectSetSteps(
            client=self._client,
            extensions=self.manager.store(EXTENSION),
            store=self._store,
            watches=self.watches,
            gate=_gate(wait_for_workloads=settings.gates["BoxcutterRuntime"]),
            certificates=RevisionCertificates(
                rotation(settings.certificate_lifetime, settings.certificate_settle, utc_now)
            ),
            clock=utc_now,
            monotonic=time.monotonic,
            enqueue=lambda name, seconds: self.manager.enqueue(OBJECT_SETS, name, after=seconds),
            allow_controller_identity=settings.allow_controller_identity,
        )

    def _managed_object_changed(self, owner: OwnerKey, key: ObjectKey) -> None:
        self._handlers.managed_object(owner, key)

    async def retry_pulls(self) -> None:
        """Enqueues every extension: what could not be pulled may be there. Raises ApiError."""
        for name in await existing(self._client, EXTENSION):
            self.manager.enqueue(EXTENSIONS, name)

    async def _existing_extensions(self) -> set[str]:
        """Also those that are only watched for; forgets the rest. Raises ApiError, DiskError."""
        found = await existing(self._client, EXTENSION)
        self.metrics.keep(found)
        await self._bundles.collect(found)
        return {*found, *self._watched_for(names.CLUSTER_EXTENSION)}

    async def _existing_object_sets(self) -> set[str]:
        found = await existing(self._client, OBJECT_SET)
        return {*found, *self._watched_for(names.CLUSTER_OBJECT_SET)}

    def _watched_for(self, owner_kind: str) -> list[str]:
        return [name for kind, name in self.watches.owners() if kind == owner_kind]

    async def run(self, access: ClusterAccess) -> None:
        """Works until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.manager.run(access))
                group.create_task(self.watches.look_at_apis())
                group.create_task(self.accounts.look())
                group.create_task(self.pulls.cluster.act_on_changes(self.retry_pulls))
        finally:
            await self.watches.close()
            await self.catalogs.close()
            await self.pulls.close()

    def readings(self) -> Readings:
        """What the metrics say of other things than extensions."""
        return Readings(
            queues={
                f"controller-operator-{name}-controller": queue
                for name, queue in self.manager.queues.items()
                if name != CLUSTER_OPERATORS
            },
            answers=self._client.answers,
            lookups={found.value: count for found, count in self.catalogs.lookups.items()},
            watches=self.watches.running(),
            lease=LEASE,
            leading=True,
            now=asyncio.get_running_loop().time(),
        )


def _catalog_client(settings: Settings, catalogs: Store[KubeObject]) -> CatalogClient:
    catalogd = Catalogd(
        settings.catalogd_cas_dir, settings.tls_profile, allow_http=settings.allow_http_catalogs
    )
    release_field = settings.gates["BundleReleaseSupport"]
    cache = CatalogCache(settings.cache_path / "catalogs", release_field=release_field)
    return CatalogClient(catalogs, catalogd, cache)


def _pulls(settings: Settings, client: KubeClient) -> Pulls:
    secrets = PullSecrets.of_this_program(
        client,
        global_secret=settings.global_pull_secret,
        prefix="operator-controller-global-pull-secrets-",
    )
    return Pulls(
        client,
        secrets,
        cache=settings.cache_path / "unpack",
        namespace=settings.system_namespace,
        cas_dir=settings.pull_cas_dir,
        limits=settings.limits,
    )


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
