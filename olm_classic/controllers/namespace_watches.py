"""What has a namespace looked at again: everything that its Subscriptions depend on."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from api.objects import KubeObject, labels_of, namespace_of
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.names import LABEL_COPIED_FROM
from olm_classic.subscriptions.view import Csv
from olm_runtime.controller.handlers import (
    Change,
    Enqueue,
    enqueue_mapped,
    more_than_status_changed,
)
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.reconciler import Reconciler
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.lanes import Priority
from olm_runtime.watch.store import Store

NAMESPACES = "namespace-resolution"
"""The name of the controller."""


class Namespaces:
    """The namespaces that have Subscriptions."""

    def __init__(self, subscriptions: Store[KubeObject], global_namespace: str) -> None:
        """The catalogs of `global_namespace` are for all of them."""
        self._subscriptions = subscriptions
        self._global = global_namespace

    async def all(self) -> list[Request]:
        """All of them."""
        return self._all()

    def seeing(self, catalog_namespace: str) -> list[Request]:
        """Those that the catalogs of a namespace are for."""
        return self._all() if catalog_namespace == self._global else [catalog_namespace]

    def _all(self) -> list[Request]:
        return list(dict.fromkeys(namespace for (namespace, _), _ in self._subscriptions.items()))


def registration(manager: Manager, reconciler: Reconciler, namespaces: Namespaces) -> Registration:
    """The controller of namespaces as a manager runs it."""
    of_namespace = enqueue_mapped(lambda obj: [namespace_of(obj)])

    def of_catalog(catalog: KubeObject) -> Iterable[Request]:
        return namespaces.seeing(namespace_of(catalog))

    return Registration(
        name=NAMESPACES,
        reconciler=reconciler,
        watches=(
            Watch(SUBSCRIPTION, partial(_enqueue_namespace, manager)),
            Watch(INSTALL_PLAN, of_namespace),
            Watch(CLUSTER_SERVICE_VERSION, of_namespace, VERSION_CHANGES),
            Watch(OPERATOR_GROUP, of_namespace, [more_than_status_changed]),
            Watch(CATALOG_SOURCE, enqueue_mapped(of_catalog), CATALOG_CHANGES),
        ),
        resync=namespaces.all,
    )


def _enqueue_namespace(manager: Manager, event: Change, enqueue: Enqueue) -> None:
    """For Subscriptions: not after statuses that we wrote."""

    def enqueue_its_namespace(
        request: Request, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
    ) -> None:
        enqueue(namespaced_name(request)[0], priority=priority, after=after)

    manager.enqueue_changed(event, enqueue_its_namespace)


def _is_own(event: Change) -> bool:
    """Copies of ClusterServiceVersions of other namespaces are no business of this one."""
    return LABEL_COPIED_FROM not in labels_of(event.object)


def _changed(part: Callable[[KubeObject], Any]) -> Callable[[Change], bool]:
    def holds(event: Change) -> bool:
        return event.old is None or event.new is None or part(event.old) != part(event.new)

    return holds


def _what_matters(catalog: KubeObject) -> tuple[Any, ...]:
    """Of a CatalogSource: all but the times of its status."""
    status = catalog.get("status") or {}
    return (
        catalog["metadata"]["uid"],
        catalog.get("spec"),
        status.get("reason"),
        status.get("registryService") is None,
    )


VERSION_CHANGES = (_is_own, _changed(Csv.from_object))
"""Changes of ClusterServiceVersions that may have a namespace resolve otherwise."""
CATALOG_CHANGES = (_changed(_what_matters),)
"""The same of CatalogSources."""
