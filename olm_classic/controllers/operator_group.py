"""The controller of OperatorGroups: what they select, and who may use what they provide.

It writes their status, takes from their annotation `olm.providedAPIs` what no member provides any
more, and has the cluster roles of each. What is left of a group that is gone is found by labels,
also where nobody saw it go: groups need no finalizer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from api.objects import GVK, KubeObject, annotations_of, is_deleting, labels_of, metadata, name_of
from api.operators.v1.operatorgroup import OperatorGroup
from olm_classic.controllers.operator_group_watches import OWNING_GROUP, GroupStores, registration
from olm_classic.csv.membership import owned_apis, pruned
from olm_classic.io.roles import Roles
from olm_classic.kinds import OPERATOR_GROUP
from olm_classic.names import ANNOTATION_PROVIDED_APIS, LABEL_MANAGED, OPERATOR_FIELD_MANAGER
from olm_classic.operator_groups.cluster_roles import cluster_roles
from olm_classic.operator_groups.selection import TargetsError, selected, selects_by_label
from olm_classic.operator_groups.status import Found, status_of
from olm_classic.provided_apis import provided_apis
from olm_classic.selections import CLUSTER_ROLES
from olm_content.selectors import SelectorError
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration
from olm_runtime.controller.reconciler import Controller, Finish
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.event import Happening
from olm_runtime.outcome import Outcome

ACCOUNT_FIELD_MANAGER = "operator-lifecycle-manager"
"""Of the label of a group's service account, as upstream's."""


@dataclass(frozen=True, slots=True)
class Context:
    """A group, and what was found of it."""

    raw: KubeObject
    group: OperatorGroup
    found: Found

    @property
    def namespace(self) -> str:
        """Where it is, with its members."""
        return self.group.metadata.namespace


class OperatorGroups:
    """Reconciles OperatorGroups."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._stores = GroupStores.of(manager)
        self._roles = Roles(
            manager.client,
            {CLUSTER_ROLES.gvk: self._stores.cluster_roles},
            field_manager=OPERATOR_FIELD_MANAGER,
        )

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        reconciler = self._manager.reconciler(
            Controller(
                kind=OPERATOR_GROUP,
                begin=self._begin,
                prepare=self._prune,
                steps=(self._find_account, self._find_namespaces),
                status=_status,
                afterwards=(self._ensure_cluster_roles,),
                gone=self._remove_cluster_roles,
                kstatus=False,
            )
        )
        return registration(self._manager, reconciler, self._stores)

    def _begin(self, raw: KubeObject) -> Context:
        """Raises InvalidObjectError."""
        group = OperatorGroup.from_object(raw)
        siblings = self._stores.groups.by_index(NAMESPACE, group.metadata.namespace)
        several = sum(not is_deleting(each) for each in siblings) > 1
        return Context(raw, group, Found(several=several))

    def _prune(self, raw: KubeObject) -> Mapping[str, Any]:
        """The patch of the metadata of a group whose annotation says too much."""
        annotation = annotations_of(raw).get(ANNOTATION_PROVIDED_APIS, "")
        if raw.get("spec", {}).get("staticProvidedAPIs") or not annotation:
            return {}
        self._stores.csvs.check_synced()
        left = pruned(annotation, self._stores.members_of(raw))
        if left is None or provided_apis(left) == provided_apis(annotation):
            return {}
        return {"annotations": {ANNOTATION_PROVIDED_APIS: left}}

    async def _find_account(self, context: Context) -> Context | Finish[Context]:
        """Its service account; while that is missing, what it selects stays. Raises ApiError."""
        name = context.group.spec.service_account_name
        if not name:
            return context
        self._stores.accounts.check_synced()
        account = self._stores.accounts.get(name, context.namespace)
        if account is None:
            return Finish(context)
        if labels_of(account).get(LABEL_MANAGED) != "true":
            account = await self._label(account)
        return replace(context, found=replace(context.found, account=account))

    async def _label(self, account: KubeObject) -> KubeObject:
        """The account with our label; by its UID, so that none is made of one that is gone."""
        identity = {key: metadata(account)[key] for key in ("name", "namespace", "uid")}
        labelled = {
            **{key: account[key] for key in ("apiVersion", "kind")},
            "metadata": {**identity, "labels": {LABEL_MANAGED: "true"}},
        }
        await self._manager.client.apply(labelled, field_manager=ACCOUNT_FIELD_MANAGER)
        return account

    async def _find_namespaces(self, context: Context) -> Context:
        """What it selects. Raises TargetsError, SelectorError, which an Event reports."""
        spec = context.group.spec
        self._stores.namespaces.check_synced()
        candidates = self._stores.namespaces.objects() if selects_by_label(spec) else ()
        try:
            found = selected(spec, candidates)
        except (TargetsError, SelectorError) as error:
            happening = Happening(
                "SelectNamespaces", "InvalidSelection", error.message, warning=True
            )
            self._manager.events.announce(context.raw, [happening])
            raise
        return replace(context, found=replace(context.found, namespaces=found))

    async def _ensure_cluster_roles(self, context: Context) -> Context:
        """One a level, for all that it provides. Raises ApiError."""
        self._stores.cluster_roles.check_synced()
        apis: set[GVK] = set(
            provided_apis(annotations_of(context.raw).get(ANNOTATION_PROVIDED_APIS, ""))
        )
        for csv in self._stores.members_of(context.raw):
            apis |= owned_apis(csv) or frozenset()
        for role in cluster_roles(context.namespace, name_of(context.raw), apis):
            await self._roles.ensure(role)
        return context

    async def _remove_cluster_roles(self, request: Request) -> None:
        """Of a group that is gone. Raises ApiError."""
        self._stores.cluster_roles.check_synced()
        for role in self._stores.cluster_roles.by_index(OWNING_GROUP, namespaced_name(request)):
            await self._roles.remove(role)


def _status(context: Context, _: Outcome, now: datetime) -> Mapping[str, Any]:
    return status_of(context.group, context.found, now)
