"""What the controller of ClusterServiceVersions reads: stores, and what is found in them by index.

Nothing here asks the API server.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from api.objects import (
    GVK,
    KubeObject,
    annotations_of,
    is_deleting,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.membership import owned_apis
from olm_classic.csv.phases import has_given_up
from olm_classic.csv.replacement import Chain, owned_definitions, replaces
from olm_classic.csv.requirements import required_definitions, required_groups
from olm_classic.io.account_rights import RightsStores
from olm_classic.io.csv_deployments import Deployments
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
from olm_runtime.controller.manager import NAMESPACE, Manager
from olm_runtime.watch.store import Store

REPLACES = "csv-replaces"
"""ClusterServiceVersions by namespace and the name of what they replace."""
OWNS = "csv-owns"
"""By namespace and the name of a definition that they own."""
NEEDS = "csv-needs"
"""By the name of a definition that they own or require."""
GROUPS = "csv-needs-group"
"""By group and version of kinds that they need besides."""
PROVIDES = "csv-provides"
"""By the APIs that they provide; OperatorGroups by those of their annotation."""
ACCOUNTS = "csv-accounts"
"""By namespace and name of the accounts that they ask rights for."""
DEPLOYS = "csv-deploys"
"""By namespace and the name of a Deployment that they describe."""
GIVEN_UP = "csv-given-up"
"""Those whose installation waits for other rights, by True."""
INSTALLED = "installed-csv"
"""Subscriptions by namespace and name of what is installed."""


@dataclass(frozen=True, slots=True)
class CsvStores:
    """ClusterServiceVersions that are no copies, and all that their phases depend on."""

    csvs: Store[KubeObject]
    groups: Store[KubeObject]
    subscriptions: Store[KubeObject]
    conditions: Store[KubeObject]
    crds: Store[KubeObject]
    api_services: Store[KubeObject]
    accounts: Store[KubeObject]
    rights: RightsStores
    deployments: Deployments

    @classmethod
    def of(cls, manager: Manager) -> "CsvStores":
        """Those of a manager, which watches them."""
        found = cls(
            csvs=manager.store(CLUSTER_SERVICE_VERSION),
            groups=manager.store(OPERATOR_GROUP),
            subscriptions=manager.store(SUBSCRIPTION),
            conditions=manager.store(OPERATOR_CONDITION),
            crds=manager.selected(CRDS),
            api_services=manager.selected(API_SERVICES),
            accounts=manager.selected(SERVICE_ACCOUNTS),
            rights=RightsStores(
                roles=manager.selected(ROLES),
                bindings=manager.selected(ROLE_BINDINGS),
                cluster_roles=manager.selected(CLUSTER_ROLES),
                cluster_bindings=manager.selected(CLUSTER_ROLE_BINDINGS),
            ),
            deployments=Deployments(manager.client, manager.selected(DEPLOYMENTS)),
        )
        for name, indexer in _CSV_INDEXES.items():
            found.csvs.add_index(name, indexer)
        found.groups.add_index(PROVIDES, _provided_by_group)
        found.subscriptions.add_index(INSTALLED, _installed)
        return found

    def groups_of(self, csv: KubeObject) -> list[KubeObject]:
        """The OperatorGroups of its namespace that stay."""
        found = self.groups.by_index(NAMESPACE, namespace_of(csv))
        return [group for group in found if not is_deleting(group)]

    def rivals_of(self, csv: KubeObject) -> list[KubeObject]:
        """The OperatorGroups of all namespaces that provide some API of it."""
        found = {}
        for api in owned_apis(csv) or ():
            for group in self.groups.by_index(PROVIDES, api):
                found[namespace_of(group), name_of(group)] = group
        return list(found.values())

    def chain_of(self, csv: KubeObject) -> Chain:
        """It, all that replace each other with it, and those that own what it owns."""
        found: dict[str, KubeObject] = {}
        waiting = [csv, *self._owners(csv)]
        while waiting:
            each = waiting.pop()
            if name_of(each) not in found:
                found[name_of(each)] = each
                waiting += self.neighbours(each)
        return Chain(found.values())

    def neighbours(self, csv: KubeObject) -> list[KubeObject]:
        """What it replaces, and what replaces it."""
        namespace = namespace_of(csv)
        older = self.csvs.get(replaces(csv), namespace)
        newer = self.csvs.by_index(REPLACES, (namespace, name_of(csv)))
        return [*newer, *([older] if older is not None else [])]

    def _owners(self, csv: KubeObject) -> Iterable[KubeObject]:
        for definition in owned_definitions(csv):
            yield from self.csvs.by_index(OWNS, (namespace_of(csv), definition))

    def occupied(self, csv: KubeObject, wanted: Iterable[KubeObject]) -> str:
        """Which Deployment of it belongs to another that stays; empty if none does.

        What replaces each other shares Deployments.
        """
        related, namespace = self.chain_of(csv).related(csv), namespace_of(csv)
        for each in self.deployments.live(wanted).values():
            for reference in metadata(each).get("ownerReferences") or ():
                name = reference["name"]
                other = self.csvs.get(name, namespace) if name not in related else None
                if other is None or is_deleting(other):
                    continue
                if reference["uid"] == metadata(other)["uid"]:
                    return f"deployment {name_of(each)} belongs to ClusterServiceVersion {name}"
        return ""

    def config_of(self, csv: KubeObject) -> dict[str, object] | None:
        """The `config` of the first Subscription that has it installed."""
        found = self.subscriptions.by_index(INSTALLED, (namespace_of(csv), name_of(csv)))
        first = min(found, key=name_of, default=None)
        return first["spec"].get("config") if first is not None else None


def account_names(csv: KubeObject) -> set[str]:
    """The accounts that it asks rights for."""
    strategy = csv["spec"]["install"].get("spec") or {}
    asked = [*(strategy.get("permissions") or ()), *(strategy.get("clusterPermissions") or ())]
    return {each["serviceAccountName"] for each in asked}


def _replaces(csv: KubeObject) -> list[tuple[str, str]]:
    return [(namespace_of(csv), replaces(csv))] if replaces(csv) else []


def _owns(csv: KubeObject) -> list[tuple[str, str]]:
    return [(namespace_of(csv), name) for name in owned_definitions(csv)]


def _provided(csv: KubeObject) -> Iterable[GVK]:
    return owned_apis(csv) or ()


def _accounts(csv: KubeObject) -> list[tuple[str, str]]:
    return [(namespace_of(csv), name) for name in account_names(csv)]


def _deploys(csv: KubeObject) -> list[tuple[str, str]]:
    strategy = csv["spec"]["install"].get("spec") or {}
    return [(namespace_of(csv), each["name"]) for each in strategy.get("deployments") or ()]


def _waits_for_rights(csv: KubeObject) -> list[bool]:
    return [True] if has_given_up(csv.get("status") or {}) else []


def _provided_by_group(group: KubeObject) -> Iterable[GVK]:
    return provided_apis(annotations_of(group).get(ANNOTATION_PROVIDED_APIS, ""))


def _installed(subscription: KubeObject) -> list[tuple[str, str]]:
    name = (subscription.get("status") or {}).get("installedCSV")
    return [(namespace_of(subscription), name)] if name else []


_CSV_INDEXES = {
    REPLACES: _replaces,
    OWNS: _owns,
    NEEDS: required_definitions,
    GROUPS: required_groups,
    PROVIDES: _provided,
    ACCOUNTS: _accounts,
    DEPLOYS: _deploys,
    GIVEN_UP: _waits_for_rights,
}
