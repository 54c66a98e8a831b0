"""Labels what belongs to an operator as its components.

A Subscription's label goes to what it installed; that of a ClusterServiceVersion to what it owns.
"""

from collections.abc import Iterable, Iterator

from api.objects import GVK, KubeObject, is_deleting, name_of, namespace_of
from olm_classic.controllers.component_stores import (
    INSTALL_PLANS,
    OWNABLE,
    ComponentStores,
    kind_of,
    labels_changed,
)
from olm_classic.csv.replacement import owned_definitions
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, SUBSCRIPTION
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.operator_components import (
    Key,
    missing_labels,
    owners_of,
    suffix_of_subscription,
    suffixes_of,
)
from olm_classic.selections import CRDS
from olm_content.names import CSV_KIND
from olm_runtime.controller.handlers import EventHandler, enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request, namespaced_name, request_for, request_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome

SUBSCRIPTIONS_NAME, CSVS_NAME = "subscription-components", "csv-components"
INSTALLED = "components-of-subscription"
"""The index of Subscriptions by kind, namespace and name of what they installed."""
DEFINITION = "csv-owning-definition"
"""The index of ClusterServiceVersions by the names of the definitions that they own."""


class SubscriptionComponents:
    """Labels Subscriptions, what they have installed and its plan. Requests name Subscriptions."""

    def __init__(self, manager: Manager, stores: ComponentStores) -> None:
        self._client = manager.client
        self._stores = stores
        self._subscriptions = stores.stores[SUBSCRIPTION]
        self._subscriptions.add_index(INSTALLED, _installed)

    def registration(self) -> Registration:
        """The row of this controller."""
        installed = (CLUSTER_SERVICE_VERSION, INSTALL_PLANS)
        return Registration(
            name=SUBSCRIPTIONS_NAME,
            reconciler=self,
            watches=[
                Watch(SUBSCRIPTION),
                *(
                    Watch(each, self._of_installed(kind_of(each)), [labels_changed])
                    for each in installed
                ),
            ],
        )

    def _of_installed(self, kind: GVK) -> EventHandler:
        def requests(obj: KubeObject) -> list[Request]:
            place = kind.kind, namespace_of(obj), name_of(obj)
            return [request_of(s) for s in self._subscriptions.by_index(INSTALLED, place)]

        return enqueue_mapped(requests)

    async def reconcile(self, request: Request) -> Outcome:
        """Adds the label where it is missing. Raises ApiError, NotSyncedError."""
        self._stores.check_synced()
        namespace, name = namespaced_name(request)
        subscription = self._subscriptions.get(name, namespace)
        if subscription is not None and not is_deleting(subscription):
            suffix = suffix_of_subscription(subscription)
            await add_labels(self._client, SUBSCRIPTION, subscription, [suffix])
            for kind, obj in self._installed(subscription):
                await add_labels(self._client, kind, obj, [suffix])
        return Done()

    def _installed(self, subscription: KubeObject) -> Iterator[tuple[GVK, KubeObject]]:
        stores = {kind_of(each).kind: (each, store) for each, store in self._stores.stores.items()}
        for kind, namespace, name in _installed(subscription):
            each, store = stores[kind]
            found = store.get(name, namespace)
            if found is not None:
                yield kind_of(each), found

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log."""


class CsvComponents:
    """Labels what ClusterServiceVersions own. Requests name ClusterServiceVersions."""

    def __init__(self, manager: Manager, stores: ComponentStores) -> None:
        self._client = manager.client
        self._stores = stores
        self._csvs = stores.stores[CLUSTER_SERVICE_VERSION]
        self._csvs.add_index(DEFINITION, owned_definitions)

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=CSVS_NAME,
            reconciler=self,
            watches=[
                Watch(CLUSTER_SERVICE_VERSION, predicates=[labels_changed]),
                *(Watch(each, enqueue_mapped(_of_owned), [labels_changed]) for each in OWNABLE),
                Watch(CRDS, enqueue_mapped(self._of_definition), [labels_changed]),
            ],
        )

    def _of_definition(self, crd: KubeObject) -> Iterable[Request]:
        return [request_of(csv) for csv in self._csvs.by_index(DEFINITION, name_of(crd))]

    async def reconcile(self, request: Request) -> Outcome:
        """Adds its labels to what it owns. Raises ApiError, NotSyncedError."""
        self._stores.check_synced()
        namespace, name = namespaced_name(request)
        csv = self._csvs.get(name, namespace)
        suffixes = suffixes_of(csv) if csv is not None and not is_deleting(csv) else []
        if csv is not None and suffixes:
            for kind, obj in self._owned(csv, (namespace, name)):
                await add_labels(self._client, kind, obj, suffixes)
        return Done()

    def _owned(self, csv: KubeObject, key: Key) -> Iterator[tuple[GVK, KubeObject]]:
        yield from self._stores.owned_by(key)
        for name in owned_definitions(csv):
            definition = self._stores.stores[CRDS].get(name)
            if definition is not None:
                yield CRDS.gvk, definition

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log."""


async def add_labels(
    client: KubeClient, kind: GVK, obj: KubeObject, suffixes: Iterable[str]
) -> None:
    """Makes an object a component, if it is not. Raises ApiError."""
    labels = missing_labels(obj, suffixes)
    if not labels or is_deleting(obj):
        return
    meta = {"name": name_of(obj), "namespace": namespace_of(obj)}
    named = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
    patch = {"metadata": {"labels": labels}}
    try:
        await client.patch(named, patch, field_manager=OPERATOR_FIELD_MANAGER, metadata_only=True)
    except NotFoundError:
        return  # it went meanwhile, which its watch reports


def _of_owned(obj: KubeObject) -> list[Request]:
    return [request_for(name, namespace) for namespace, name in owners_of(obj)]


def _installed(subscription: KubeObject) -> list[tuple[str, str, str]]:
    """Kind, namespace and name of the version and of the plan of a Subscription."""
    status, namespace = subscription.get("status") or {}, namespace_of(subscription)
    plan = (status.get("installPlanRef") or {}).get("name")
    found = [(CSV_KIND, status.get("installedCSV")), (INSTALL_PLAN.kind, plan)]
    return [(kind, namespace, str(name)) for kind, name in found if name]
