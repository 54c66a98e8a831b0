"""Stores of the objects by which API services and webhooks of operators are reached."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from api.objects import GVK, KubeObject
from olm_classic.csv.owner import owner_of
from olm_classic.io.account_rights import OWNER
from olm_classic.selections import API_SERVICES, CRDS
from olm_content.names import CSV_KIND
from olm_rollout.classic_owners import LABEL_OWNER_KIND
from olm_runtime.controller.manager import Manager
from olm_runtime.watch.informer import Selection
from olm_runtime.watch.store import Event, Store

_OWNED = f"{LABEL_OWNER_KIND}={CSV_KIND}"
ADMISSION_GROUP = "admissionregistration.k8s.io"
SERVICE, SECRET = GVK("", "v1", "Service"), GVK("", "v1", "Secret")
API_SERVICE = API_SERVICES.gvk
VALIDATING = GVK(ADMISSION_GROUP, "v1", "ValidatingWebhookConfiguration")
MUTATING = GVK(ADMISSION_GROUP, "v1", "MutatingWebhookConfiguration")
WEBHOOKS = (VALIDATING, MUTATING)


@dataclass(frozen=True, slots=True)
class OwnedApiStores:
    """What ClusterServiceVersions own; Secrets without their content."""

    services: Store[KubeObject]
    secrets: Store[KubeObject]
    api_services: Store[KubeObject]
    webhooks: dict[GVK, Store[KubeObject]]
    crds: Store[KubeObject]

    @classmethod
    def of(cls, manager: Manager) -> "OwnedApiStores":
        """Those of a manager, which watches them."""
        found = cls(
            services=manager.selected(Selection(SERVICE, labels=_OWNED, cached=True)),
            secrets=manager.selected(
                Selection(SECRET, labels=_OWNED, metadata_only=True, cached=True)
            ),
            api_services=manager.selected(API_SERVICES),
            webhooks={
                kind: manager.selected(Selection(kind, labels=_OWNED, cached=True))
                for kind in WEBHOOKS
            },
            crds=manager.selected(CRDS),
        )
        for store in found.owned:
            store.add_index(OWNER, owner_of)
        return found

    @property
    def owned(self) -> Iterable[Store[KubeObject]]:
        """Those whose objects name their owner by labels."""
        return (self.services, self.secrets, self.api_services, *self.webhooks.values())

    def of_kind(self, kind: GVK) -> Store[KubeObject] | None:
        """The store of a kind, where there is one."""
        stores = {
            SERVICE: self.services,
            SECRET: self.secrets,
            API_SERVICE: self.api_services,
            **self.webhooks,
        }
        return stores.get(kind)

    def notify(self, changed: Callable[[str, str], None]) -> None:
        """Has the namespace and name of the owner told at each change of an object."""

        def tell(event: Event[KubeObject]) -> None:
            for each in filter(None, (event.old, event.new)):
                for namespace, name in owner_of(each):
                    changed(namespace, name)

        for store in self.owned:
            store.add_event_handler(tell)
