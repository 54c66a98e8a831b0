"""What catalog-operator runs: a row for each controller, and what the controllers share."""

import asyncio
import logging
import os
import random

from olm_classic.catalog_operator.installing import Installing
from olm_classic.catalog_operator.settings import LEASE, CatalogServing, Settings
from olm_classic.controllers.catalog_source import CatalogSources, Listeners, SharedSettings
from olm_classic.controllers.cluster_operators import ClusterOperatorReports
from olm_classic.controllers.operator_hub import OperatorHubController
from olm_classic.io.catalogd import Catalogd
from olm_classic.io.default_catalogs import read_default_catalogs
from olm_classic.io.pulls import Pulls
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.metrics import Key, Metrics, Readings, is_ready
from olm_classic.names import LABEL_COPIED_FROM, RELEASE_VARIABLE
from olm_runtime.clocks import utc_now
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.event_limit import EventLimit
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.handlers import Change
from olm_runtime.controller.manager import Manager, Registration
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.proxies import read_grpc_proxy

log = logging.getLogger(__name__)

REPORTER = "operator-lifecycle-manager"
"""Who reports Events, as upstream has it."""


class Controllers:
    """The controllers of this program and what they share."""

    def __init__(self, settings: Settings, client: KubeClient, instance: str) -> None:
        """`instance` names this process in Events."""
        self._settings = settings
        self._client = client
        self.metrics = Metrics()
        self.manager = Manager(
            client,
            events=EventBroadcaster(
                client, controller=REPORTER, instance=instance, limit=EventLimit()
            ),
            clock=utc_now,
            jitter=random.random,
            resync_seconds=settings.resync_seconds,
        )
        self.manager.restrict(CLUSTER_SERVICE_VERSION, labels=f"!{LABEL_COPIED_FROM}")
        self._pulls = Pulls(
            client,
            namespace=settings.system_namespace,
            global_secret=settings.global_pull_secret,
            cas_dir=settings.pull_cas_dir,
            limits=settings.limits,
        )
        self._counted = {
            kind: self.manager.store(kind) for kind in (CATALOG_SOURCE, SUBSCRIPTION, INSTALL_PLAN)
        }
        self._groups = self.manager.store(OPERATOR_GROUP)
        self._catalogs = self._counted[CATALOG_SOURCE]
        self._catalogs.add_event_handler(self._count_catalog)
        self._counted[SUBSCRIPTION].add_event_handler(self._count_subscription)
        self.catalog_sources = CatalogSources(
            self.manager,
            settings.pods,
            Listeners(on_ready=self._take_content),
            clock=utc_now,
            proxies=read_grpc_proxy(os.environ),
            shared=self._shared(settings),
        )
        self.installing = Installing(
            self.manager, settings, self.catalog_sources.connections, self.metrics, self._pulls
        )
        for row in self._rows():
            self.manager.register(row)
        ClusterOperatorReports(
            self.manager,
            release=os.environ.get(RELEASE_VARIABLE, ""),
            namespace=settings.system_namespace,
            clock=utc_now,
        ).of_catalog_operator(settings.status_name)

    def _shared(self, settings: Settings) -> SharedSettings | None:
        """How images are served, if this program does it."""
        if settings.catalog_serving is not CatalogServing.SHARED:
            return None
        secret = settings.catalogd_ca_secret
        return SharedSettings(
            address=settings.catalog_address,
            ports=settings.catalog_ports,
            folder=settings.cache_path,
            pulls=self._pulls.of_catalogs,
            catalogd=Catalogd(self._client, secret) if secret else None,
        )

    def _rows(self) -> list[Registration]:
        """A row for each controller: its name, what it does, what it watches."""
        return [
            self.catalog_sources.registration(),
            *self.installing.registrations(),
            *self._default_catalogs(),
        ]

    def _default_catalogs(self) -> list[Registration]:
        """Only where there are any: elsewhere, as on OpenShift, OperatorHub is another's."""
        folder = self._settings.default_catalogs
        if folder is None:
            return []
        manifests = read_default_catalogs(folder)
        namespace = self._settings.global_namespace
        return [OperatorHubController(self.manager, manifests, namespace=namespace).registration()]

    def _take_content(self, catalog: Key) -> None:
        """The connection to a catalog is ready."""
        self.installing.take_content(catalog)

    def _count_catalog(self, event: Change) -> None:
        if event.new is None:
            self.metrics.catalog_gone(event.key)

    def _count_subscription(self, event: Change) -> None:
        """As upstream, which looks at a Subscription at each of its events."""
        if event.new is None:
            self.metrics.subscription_gone(event.key)
        else:
            self.metrics.subscription_synced(event.key, event.new)

    async def run(self, access: ClusterAccess) -> None:
        """Works until cancelled."""
        failed = await attempt(self.catalog_sources.collect(), "the removal of old content")
        if failed is not None:
            log.warning("old content of catalogs stays: %s", failed.message)
        self.installing.prepare()
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pulls.act_on_changes(self.manager.resync))
                await self.manager.run(access)
        finally:
            await self.installing.close()
            await self.catalog_sources.close()
            await self._pulls.close()

    def readings(self) -> Readings:
        """What the metrics say."""
        return Readings(
            objects={kind: len(store) for kind, store in self._counted.items()},
            catalogs_ready={key: is_ready(obj) for key, obj in self._catalogs.items()},
            queues=self.manager.queues,
            answers=self._client.answers,
            lease=LEASE,
            leading=True,
            now=asyncio.get_running_loop().time(),
        )
