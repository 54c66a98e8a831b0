"""What olm-operator runs: a row for each controller, and what the controllers share."""

import asyncio
import os
import random
from dataclasses import dataclass, replace

from olm_classic.controllers.api_roles import ApiRoles
from olm_classic.controllers.cluster_operators import ClusterOperatorReports
from olm_classic.controllers.cluster_service_version import NAME as CSVS
from olm_classic.controllers.cluster_service_version import ClusterServiceVersions
from olm_classic.controllers.copy_sources import copy_registrations
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.controllers.namespace_labels import NamespaceLabels
from olm_classic.controllers.operator import operator_controllers
from olm_classic.controllers.operator_condition import OperatorConditionController
from olm_classic.controllers.operator_group import OperatorGroups
from olm_classic.controllers.target_rights import TargetRights
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import LABEL_COPIED_FROM, RELEASE_VARIABLE
from olm_classic.olm_operator.exposition import Readings
from olm_classic.olm_operator.settings import LEASE, Settings
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import Rotation
from olm_runtime.clocks import utc_now
from olm_runtime.controller.event_limit import EventLimit
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import Manager, Registration
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.requests import request_for
from olm_runtime.controller.scope import Scope
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess

REPORTER = "operator-lifecycle-manager"
"""Who reports Events, as upstream has it."""
AUTHORITY_NAME = "OLM Classic CA"
"""In the names of the CAs of operators' certificates."""


@dataclass(slots=True)
class Metrics:
    """Counts since the program began."""

    upgrades: int = 0


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
        self._stores = CsvStores.of(self.manager)
        lifetime, settle = settings.certificate_lifetime, settings.certificate_settle
        owned = OwnedApis(self.manager, Rotation(issuer(lifetime, AUTHORITY_NAME), settle, utc_now))
        self._csvs = ClusterServiceVersions(
            self.manager,
            self._stores,
            owned,
            self.metrics,
            clock=utc_now,
        )
        self._scope = Scope(settings.watched_namespaces)
        for row in self._rows():
            self.manager.register(self._scope.within(row))
        owned.notify(self._look_at)
        reports = ClusterOperatorReports(
            self.manager,
            release=os.environ.get(RELEASE_VARIABLE, ""),
            namespace=settings.system_namespace,
            clock=utc_now,
        )
        reports.of_olm_operator(settings.status_name)
        reports.of_package_server(settings.package_server_name)

    def _rows(self) -> list[Registration]:
        """A row for each controller: its name, what it does, what it watches."""
        gate = PriorityGate()
        return [
            replace(self._csvs.registration(), gate=gate),
            *copy_registrations(
                self.manager, self._settings.protected_namespaces, clock=utc_now, gate=gate
            ),
            OperatorConditionController(self.manager, clock=utc_now).registration(),
            OperatorGroups(self.manager).registration(),
            NamespaceLabels(self.manager).registration(),
            ApiRoles(self.manager).registration(),
            TargetRights(self.manager).registration(),
            *operator_controllers(self.manager),
        ]

    def _look_at(self, namespace: str, name: str) -> None:
        """Something that a ClusterServiceVersion owns was changed."""
        self.manager.enqueue(CSVS, request_for(name, namespace))

    async def run(self, access: ClusterAccess) -> None:
        """Works until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._csvs.proxy.run())
            group.create_task(self.manager.run(access))

    def readings(self) -> Readings:
        """What the metrics say."""
        return Readings(
            csvs=[
                csv
                for (namespace, _), csv in sorted(self._stores.csvs.items())
                if self._scope.has(namespace)
            ],
            upgrades=self.metrics.upgrades,
            queues=self.manager.queues,
            answers=self._client.answers,
            lease=LEASE,
            leading=True,
            now=asyncio.get_running_loop().time(),
        )
