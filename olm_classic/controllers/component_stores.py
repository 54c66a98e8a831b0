"""What may be a component of an operator, in stores; and what is found there by index."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from api.objects import GVK, KubeObject, name_of, namespace_of
from olm_classic.kinds import (
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_CONDITION,
    SUBSCRIPTION,
)
from olm_classic.operator_components import (
    Key,
    Reference,
    owners_of,
    reference_to,
    suffixes_of,
    trimmed,
)
from olm_classic.selections import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CRDS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
)
from olm_runtime.controller.handlers import Change
from olm_runtime.controller.manager import Manager
from olm_runtime.watch.informer import Selection
from olm_runtime.watch.store import Store

COMPONENT = "component"
"""The index by the suffix of the labels of components."""
OWNED = "owned-by-csv"
"""The index by the ClusterServiceVersions that own an object."""
PAGE_SIZE = 500

DEPLOYMENTS = Selection(GVK("apps", "v1", "Deployment"), page_size=PAGE_SIZE, keep=trimmed)
"""Those of users, too: whoever labels one makes it a component."""
SECRETS = Selection(GVK("", "v1", "Secret"), metadata_only=True, page_size=PAGE_SIZE, keep=trimmed)
CONFIG_MAPS = Selection(
    GVK("", "v1", "ConfigMap"), metadata_only=True, page_size=PAGE_SIZE, keep=trimmed
)
INSTALL_PLANS = Selection(INSTALL_PLAN, page_size=50, keep=trimmed)

OWNABLE: tuple[Selection | GVK, ...] = (
    DEPLOYMENTS,
    SERVICE_ACCOUNTS,
    SECRETS,
    CONFIG_MAPS,
    ROLES,
    ROLE_BINDINGS,
    CLUSTER_ROLES,
    CLUSTER_ROLE_BINDINGS,
    CRDS,
    API_SERVICES,
    OPERATOR_CONDITION,
)
"""Of which a ClusterServiceVersion may own some."""
COMPONENTS = (*OWNABLE, SUBSCRIPTION, INSTALL_PLANS, CLUSTER_SERVICE_VERSION)


def kind_of(watched: Selection | GVK) -> GVK:
    """The kind that is watched."""
    return watched.gvk if isinstance(watched, Selection) else watched


@dataclass(frozen=True, slots=True)
class ComponentStores:
    """All that may be components, by what is watched. Copies are none."""

    stores: dict[Selection | GVK, Store[KubeObject]]

    @classmethod
    def of(cls, manager: Manager) -> "ComponentStores":
        """Those of a manager, which watches them."""
        stores = {each: _store(manager, each) for each in COMPONENTS}
        for each, store in stores.items():
            store.add_index(COMPONENT, suffixes_of)
            if each in OWNABLE:
                store.add_index(OWNED, owners_of)
        return cls(stores)

    def check_synced(self) -> None:
        """Raises NotSyncedError."""
        for store in self.stores.values():
            store.check_synced()

    def suffixes(self) -> set[str]:
        """Of all components that there are."""
        return {str(s) for store in self.stores.values() for s in store.index_values(COMPONENT)}

    def references(self, suffix: str) -> list[Reference]:
        """To the components of an operator, in the order of kinds, namespaces and names."""
        found = []
        for each, store in self.stores.items():
            kind = kind_of(each)
            of_kind = store.by_index(COMPONENT, suffix)
            found += [reference_to(kind, obj) for obj in sorted(of_kind, key=_place)]
        return found

    def owned_by(self, csv: Key) -> Iterator[tuple[GVK, KubeObject]]:
        """What a ClusterServiceVersion owns by reference or labels, with its kind."""
        for each in OWNABLE:
            for obj in self.stores[each].by_index(OWNED, csv):
                yield kind_of(each), obj


def labels_changed(event: Change) -> bool:
    """Whether other operators may have an object as a component now, or another may own it."""
    if event.old is None or event.new is None:
        return True
    return _whose(event.old) != _whose(event.new)


def shown_differently(kind: GVK, event: Change) -> Collection[str]:
    """The suffixes of operators that are to show another component, or show it otherwise."""
    shown = [_shown(kind, obj) for obj in (event.old, event.new)]
    if shown[0] == shown[1]:
        return ()
    return {suffix for suffixes, _ in shown for suffix in suffixes}


def _shown(kind: GVK, obj: KubeObject | None) -> tuple[list[str], Reference | None]:
    suffixes = [] if obj is None else suffixes_of(obj)
    return suffixes, reference_to(kind, obj) if obj is not None and suffixes else None


def _whose(obj: KubeObject) -> tuple[list[str], set[Key]]:
    return suffixes_of(obj), owners_of(obj)


def _place(obj: KubeObject) -> Key:
    return namespace_of(obj), name_of(obj)


def _store(manager: Manager, each: Selection | GVK) -> Store[KubeObject]:
    return manager.selected(each) if isinstance(each, Selection) else manager.store(each)
