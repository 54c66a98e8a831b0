"""What has a ClusterServiceVersion looked at: everything that its phase depends on."""

from collections.abc import Callable, Hashable, Iterable

from api.objects import GVK, KubeObject, name_of, namespace_of
from olm_classic.controllers.csv_stores import (
    ACCOUNTS,
    DEPLOYS,
    GIVEN_UP,
    GROUPS,
    NEEDS,
    PROVIDES,
    REPLACES,
    CsvStores,
)
from olm_classic.csv.owner import owner_of
from olm_classic.csv.phases import Phase, phase_of
from olm_classic.io.account_rights import subjects_of
from olm_classic.kinds import (
    CLUSTER_SERVICE_VERSION,
    OPERATOR_CONDITION,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.names import ANNOTATION_PROVIDED_APIS
from olm_classic.provided_apis import provided_apis
from olm_classic.selections import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CRDS,
    DEPLOYMENTS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
)
from olm_runtime.controller.handlers import (
    Change,
    Enqueue,
    EventHandler,
    enqueue_mapped,
    more_than_status_changed,
)
from olm_runtime.controller.manager import NAMESPACE, Manager, Watch
from olm_runtime.controller.requests import Request, request_for, request_of

Requests = Iterable[Request]
ACCOUNT_USER = "system:serviceaccount:"
EVERYBODY = frozenset({"system:serviceaccounts", "system:authenticated"})
NAMESPACE_GROUP = "system:serviceaccounts:"


class CsvWatches:
    """Enqueues requests for the controller of a name."""

    def __init__(
        self,
        manager: Manager,
        stores: CsvStores,
        name: str,
        owners: Callable[[], Iterable[tuple[str, str]]],
    ) -> None:
        """`owners`: namespaces and names that objects outside of namespaces say they belong to."""
        self._manager = manager
        self._owners = owners
        self._stores = stores
        self._name = name

    def all(self) -> tuple[Watch, ...]:
        """What is watched."""
        by_subjects = self._when_started(self._of_binding)
        by_role = self._when_started(self._of_role)
        return (
            Watch(CLUSTER_SERVICE_VERSION, self._take_csv),
            Watch(OPERATOR_GROUP, self._when_started(self._of_group)),
            Watch(SUBSCRIPTION, self._when_started(_of_subscription)),
            Watch(OPERATOR_CONDITION, self._when_started(self._of_condition)),
            Watch(DEPLOYMENTS, self._when_started(self._of_deployment)),
            Watch(CRDS, self._when_started(self._of_definition)),
            Watch(API_SERVICES, self._when_started(self._of_api_service)),
            Watch(SERVICE_ACCOUNTS, self._when_started(self._of_account)),
            *(Watch(each, by_subjects) for each in (ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS)),
            *(Watch(each, by_role) for each in (ROLES, CLUSTER_ROLES)),
        )

    async def existing(self) -> Requests:
        """All that there are, and those that are not and of which something is left."""
        return {*self._all(), *self._gone(self._owners())}

    def enqueue_all(self) -> None:
        """Has all looked at."""
        if self._manager.started.is_set():
            for request in self._all():
                self._manager.enqueue(self._name, request)

    def _all(self) -> list[Request]:
        return [request_for(name, namespace) for (namespace, name), _ in self._stores.csvs.items()]

    def _gone(self, owners: Iterable[tuple[str, str]]) -> Requests:
        for namespace, name in owners:
            if self._stores.csvs.get(name, namespace) is None:
                yield request_for(name, namespace)

    def _when_started(self, requests: Callable[[KubeObject], Requests]) -> EventHandler:
        """Before, every ClusterServiceVersion is enqueued by the list of them."""
        handle = enqueue_mapped(requests)

        def handle_if_started(event: Change, enqueue: Enqueue) -> None:
            if self._manager.started.is_set():
                handle(event, enqueue)

        return handle_if_started

    def _take_csv(self, event: Change, enqueue: Enqueue) -> None:
        """It, and those whose phase depends on its own, if that or more has changed."""
        self._manager.enqueue_changed(event, enqueue)
        if not self._manager.started.is_set():
            return
        if not more_than_status_changed(event) and _phase(event.old) == _phase(event.new):
            return
        for version in filter(None, (event.old, event.new)):
            for each in self._concerned(version):
                if each != request_of(version):
                    enqueue(each)

    def _concerned(self, csv: KubeObject) -> Requests:
        """Those that replace each other with it, and those that own what it owns."""
        return [request_of(each) for each in self._stores.chain_of(csv)]

    def _by(self, index: str, value: Hashable) -> list[Request]:
        return [request_of(each) for each in self._stores.csvs.by_index(index, value)]

    def _of_group(self, group: KubeObject) -> Requests:
        """Its members, and those that provide what it does, wherever they are."""
        yield from self._by(NAMESPACE, namespace_of(group))
        text = (group["metadata"].get("annotations") or {}).get(ANNOTATION_PROVIDED_APIS, "")
        for api in provided_apis(text):
            yield from self._by(PROVIDES, api)

    def _of_condition(self, obj: KubeObject) -> Requests:
        """What waits to replace the operator."""
        return self._by(REPLACES, (namespace_of(obj), name_of(obj)))

    def _of_deployment(self, deployment: KubeObject) -> Requests:
        """Its owner, and those that have one of the same name and wait for it."""
        yield from (request_for(name, namespace) for namespace, name in owner_of(deployment))
        yield from self._by(DEPLOYS, (namespace_of(deployment), name_of(deployment)))

    def _of_definition(self, crd: KubeObject) -> Requests:
        spec = crd["spec"]
        for version in spec.get("versions") or ():
            yield from self._of_served(spec["group"], version["name"])
        yield from self._by(NEEDS, name_of(crd))

    def _of_api_service(self, obj: KubeObject) -> Requests:
        spec = obj.get("spec") or {}
        return self._of_served(spec.get("group") or "", spec.get("version") or "")

    def _of_served(self, group: str, version: str) -> list[Request]:
        """Those that need something of a group and version, which is to be asked for anew."""
        concerned = self._by(GROUPS, (group, version))
        if concerned:
            self._manager.client.forget_discovered(GVK(group, version, "").api_version)
        return concerned

    def _of_account(self, account: KubeObject) -> Requests:
        yield from self._by(ACCOUNTS, (namespace_of(account), name_of(account)))
        yield from self._by(GIVEN_UP, True)

    def _of_binding(self, binding: KubeObject) -> Requests:
        yield from self._gone(owner_of(binding))
        for subject in subjects_of(binding):
            yield from self._of_subject(*subject)
        yield from self._by(GIVEN_UP, True)

    def _of_role(self, role: KubeObject) -> Requests:
        yield from self._gone(owner_of(role))
        for subject in self._stores.rights.subjects_of_role(role):
            yield from self._of_subject(*subject)
        yield from self._by(GIVEN_UP, True)

    def _of_subject(self, kind: str, namespace: str, name: str) -> Requests:
        if kind == "ServiceAccount":
            return self._by(ACCOUNTS, (namespace, name))
        if kind == "User" and name.startswith(ACCOUNT_USER):
            return self._by(ACCOUNTS, tuple(name.removeprefix(ACCOUNT_USER).split(":")))
        if kind == "Group" and name.startswith(NAMESPACE_GROUP):
            return self._by(NAMESPACE, name.removeprefix(NAMESPACE_GROUP))
        return self._all() if kind == "Group" and name in EVERYBODY else []


def _of_subscription(subscription: KubeObject) -> Requests:
    name = (subscription.get("status") or {}).get("installedCSV")
    return [request_for(name, namespace_of(subscription))] if name else []


def _phase(csv: KubeObject | None) -> Phase:
    return phase_of((csv or {}).get("status") or {})
