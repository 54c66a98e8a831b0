"""What has an OperatorGroup looked at again: what its status and its cluster roles follow from."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from api.objects import KubeObject, is_deleting, labels_of, metadata, name_of, namespace_of
from api.operators.names import LABEL_OWNER, LABEL_OWNER_KIND, LABEL_OWNER_NAMESPACE
from api.operators.v1.operatorgroup import OperatorGroup
from olm_classic.csv.membership import owned_apis
from olm_classic.csv.phases import Phase
from olm_classic.csv.replacement import is_in
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_GROUP
from olm_classic.names import LABEL_MANAGED
from olm_classic.operator_groups.selection import selects_by_label
from olm_classic.selections import CLUSTER_ROLES, NAMESPACES, SERVICE_ACCOUNTS
from olm_content.selectors import selects
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch, existing
from olm_runtime.controller.reconciler import Reconciler
from olm_runtime.controller.requests import Request, request_for, request_of
from olm_runtime.watch.store import Store

NAME = "operator-group"
NAMESPACES_SECONDS = 0.2
"""Namespaces that come or change one after another are looked at together."""

BY_LABEL = "selects-by-label"
"""The index of groups whose namespaces follow from labels."""
ACCOUNT = "service-account"
"""That of groups by namespace and name of their service account."""
OWNING_GROUP = "owning-group"
"""That of cluster roles by namespace and name of the group that their labels name."""


@dataclass(frozen=True, slots=True)
class GroupStores:
    """What groups depend on. ClusterServiceVersions are those that are no copies."""

    groups: Store[KubeObject]
    csvs: Store[KubeObject]
    namespaces: Store[KubeObject]
    accounts: Store[KubeObject]
    cluster_roles: Store[KubeObject]

    @classmethod
    def of(cls, manager: Manager) -> "GroupStores":
        """Those of a manager, which watches them."""
        found = cls(
            groups=manager.store(OPERATOR_GROUP),
            csvs=manager.store(CLUSTER_SERVICE_VERSION),
            namespaces=manager.selected(NAMESPACES),
            accounts=manager.selected(SERVICE_ACCOUNTS),
            cluster_roles=manager.selected(CLUSTER_ROLES),
        )
        found.groups.add_index(BY_LABEL, _by_label)
        found.groups.add_index(ACCOUNT, _account)
        found.cluster_roles.add_index(OWNING_GROUP, _owning_group)
        return found

    def members_of(self, group: KubeObject) -> list[KubeObject]:
        """The ClusterServiceVersions of its namespace that stay."""
        csvs = self.csvs.by_index(NAMESPACE, namespace_of(group))
        return [csv for csv in csvs if not is_deleting(csv)]


def registration(manager: Manager, reconciler: Reconciler, stores: GroupStores) -> Registration:
    """The controller of groups as a manager runs it."""

    def same_namespace(obj: KubeObject) -> list[Request]:
        found = stores.groups.by_index(NAMESPACE, namespace_of(obj))
        return [request_of(group) for group in found]

    def naming(account: KubeObject) -> list[Request]:
        key = namespace_of(account), name_of(account)
        return [request_of(group) for group in stores.groups.by_index(ACCOUNT, key)]

    def enqueue_selecting(event: Change, enqueue: Enqueue) -> None:
        for group in _affected(stores, event):
            enqueue(request_of(group), after=NAMESPACES_SECONDS)

    return Registration(
        name=NAME,
        reconciler=reconciler,
        watches=(
            Watch(OPERATOR_GROUP, manager.enqueue_changed),
            Watch(OPERATOR_GROUP, enqueue_mapped(same_namespace), [_comes_or_goes]),
            Watch(NAMESPACES, enqueue_selecting),
            Watch(SERVICE_ACCOUNTS, enqueue_mapped(naming), [_account_changed]),
            Watch(CLUSTER_SERVICE_VERSION, enqueue_mapped(same_namespace), [_apis_changed]),
            Watch(CLUSTER_ROLES, enqueue_mapped(_owners)),
        ),
        resync=partial(existing, manager.client, OPERATOR_GROUP),
    )


def _affected(stores: GroupStores, event: Change) -> list[KubeObject]:
    """The groups that a namespace now belongs to, or does not belong to any more."""
    if event.initial:
        return []
    before, now = (labels_of(each) if each else None for each in (event.old, event.new))
    if before == now:
        return []
    return [
        group
        for group in stores.groups.by_index(BY_LABEL, True)
        if _has(group, before) != _has(group, now)
    ]


def _has(group: KubeObject, labels: dict[str, str] | None) -> bool:
    selector = OperatorGroup.from_object(group).spec.selector
    return labels is not None and selector is not None and selects(selector, labels)


def _comes_or_goes(event: Change) -> bool:
    """For groups: others of the namespace may be alone now, or not any more."""
    was, now = (obj is not None and not is_deleting(obj) for obj in (event.old, event.new))
    return was != now and not event.initial


def _account_changed(event: Change) -> bool:
    """Another one of the same name counts, and a label that is taken away."""
    return not event.initial and _account_state(event.old) != _account_state(event.new)


def _account_state(account: KubeObject | None) -> tuple[Any, ...]:
    if account is None:
        return ()
    return metadata(account).get("uid"), labels_of(account).get(LABEL_MANAGED)


def _apis_changed(event: Change) -> bool:
    """For ClusterServiceVersions: the annotation of the group may say too much, or too little."""
    return not event.initial and _provided(event.old) != _provided(event.new)


def _provided(csv: KubeObject | None) -> tuple[Any, ...]:
    if csv is None or is_deleting(csv):
        return ()
    return owned_apis(csv), is_in(csv, Phase.NONE, Phase.PENDING)


def _by_label(group: KubeObject) -> list[bool]:
    return [True] if selects_by_label(OperatorGroup.from_object(group).spec) else []


def _account(group: KubeObject) -> list[tuple[str, str]]:
    name = (group.get("spec") or {}).get("serviceAccountName")
    return [(namespace_of(group), name)] if name else []


def _owning_group(role: KubeObject) -> list[tuple[str, str]]:
    labels = labels_of(role)
    if labels.get(LABEL_OWNER_KIND) != OPERATOR_GROUP.kind:
        return []
    return [(labels.get(LABEL_OWNER_NAMESPACE, ""), labels.get(LABEL_OWNER, ""))]


def _owners(role: KubeObject) -> Iterable[Request]:
    return [request_for(name, namespace) for namespace, name in _owning_group(role)]
