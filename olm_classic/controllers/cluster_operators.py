"""Reports to ClusterOperators, where a flag names one and OpenShift serves their kind."""

from collections.abc import Callable, Sequence
from datetime import datetime

from api.objects import annotations_of, condition, name_of
from api.openshift.config.v1.clusteroperator import RawStatus, Verdict
from olm_classic.cluster_status import (
    Component,
    always_upgradeable,
    component_status,
    upgradeable,
)
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import ANNOTATION_PROPERTIES, FIELD_MANAGER, OPERATOR_FIELD_MANAGER
from olm_classic.selections import API_SERVICES
from olm_runtime.controller.cluster_operator import ClusterOperatorReporter
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch

PACKAGES_API = "v1.packages.operators.coreos.com"
OLM_RESOURCES = ("clusterserviceversions", "operatorgroups", "operatorconditions", "operators")
CATALOG_RESOURCES = ("catalogsources", "subscriptions", "installplans")

Say = Callable[[], tuple[Verdict, str]]
"""Whether the cluster may be updated, and why the component does not work; empty if it does."""


class ClusterOperatorReports:
    """The ClusterOperators that a program reports to."""

    def __init__(
        self, manager: Manager, *, release: str, namespace: str, clock: Callable[[], datetime]
    ) -> None:
        """`release` is of OpenShift, empty where it is not known; `namespace` is OLM's."""
        self._manager = manager
        self._release = release
        self._namespace = namespace
        self._clock = clock

    def of_olm_operator(self, name: str) -> None:
        """Reports which updates of the cluster installed operators forbid."""
        csvs = self._manager.store(CLUSTER_SERVICE_VERSION)

        def say() -> tuple[Verdict, str]:
            csvs.check_synced()
            return upgradeable(csvs.objects(), self._release), ""

        def on_csv(event: Change, enqueue: Enqueue) -> None:
            texts = [
                annotations_of(each).get(ANNOTATION_PROPERTIES) if each is not None else None
                for each in (event.old, event.new)
            ]
            if texts[0] != texts[1]:
                enqueue(name)

        watch = Watch(CLUSTER_SERVICE_VERSION, on_csv)
        self._report(name, OLM_RESOURCES, say, [watch], OPERATOR_FIELD_MANAGER)

    def of_package_server(self, name: str) -> None:
        """Reports whether PackageManifests are served."""
        services = self._manager.selected(API_SERVICES)

        def say() -> tuple[Verdict, str]:
            services.check_synced()
            service = services.get(PACKAGES_API)
            found = (condition(service, "Available") if service is not None else None) or {}
            if found.get("status") == "True":
                return always_upgradeable(), ""
            why = found.get("message") or "there is none"
            return always_upgradeable(), f"APIService {PACKAGES_API} is not available: {why}"

        def on_service(event: Change, enqueue: Enqueue) -> None:
            if name_of(event.object) == PACKAGES_API:
                enqueue(name)

        watch = Watch(API_SERVICES, on_service)
        self._report(name, CATALOG_RESOURCES[:1], say, [watch], OPERATOR_FIELD_MANAGER)

    def of_catalog_operator(self, name: str) -> None:
        """Reports that catalog-operator works."""
        self._report(name, CATALOG_RESOURCES, lambda: (always_upgradeable(), ""), (), FIELD_MANAGER)

    def _report(
        self,
        name: str,
        resources: Sequence[str],
        say: Say,
        watches: Sequence[Watch],
        field_manager: str,
    ) -> None:
        if not name:
            return
        component = Component(name, self._release, self._namespace, tuple(resources))

        async def status_of(old: RawStatus) -> RawStatus:
            verdict, problem = say()
            return component_status(
                component, old, self._clock(), upgradeable=verdict, problem=problem
            )

        reporter = ClusterOperatorReporter(
            self._manager.client, name, status_of, field_manager=field_manager
        )
        self._manager.register(
            Registration(
                name=name,
                reconciler=reporter,
                watches=watches,
                at_start=[name],
                resync=reporter.resync,
                workers=1,
            )
        )
