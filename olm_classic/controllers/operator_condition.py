"""Has an OperatorCondition for each ClusterServiceVersion, which its operator may write."""

from collections.abc import Callable, Iterable
from datetime import datetime

from api.objects import KubeObject, is_deleting, labels_of, metadata, namespace_of
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OPERATOR_CONDITION
from olm_classic.names import LABEL_COPIED_FROM, OPERATOR_FIELD_MANAGER
from olm_classic.operator_conditions.objects import (
    KIND,
    binding_of,
    condition_of,
    goes,
    has,
    patch_to,
    role_of,
)
from olm_classic.operator_conditions.projection import projected
from olm_classic.selections import ROLE_BINDINGS, ROLES
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch, existing
from olm_runtime.controller.requests import Request, namespaced_name, request_for, request_of
from olm_runtime.kube.errors import AlreadyExistsError
from olm_runtime.outcome import Done, Failed, Outcome
from olm_runtime.watch.store import Store

NAME = "operator-conditions"


class OperatorConditionController:
    """Requests name a ClusterServiceVersion and an OperatorCondition, which are called the same."""

    def __init__(self, manager: Manager, *, clock: Callable[[], datetime]) -> None:
        self._manager = manager
        self._client = manager.client
        self._clock = clock
        self._csvs = manager.store(CLUSTER_SERVICE_VERSION)
        self._conditions = manager.store(OPERATOR_CONDITION)
        self._roles = manager.selected(ROLES)
        self._bindings = manager.selected(ROLE_BINDINGS)

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(CLUSTER_SERVICE_VERSION, enqueue_mapped(_of_csv)),
                Watch(OPERATOR_CONDITION),
                Watch(ROLES, enqueue_mapped(_of_owned)),
                Watch(ROLE_BINDINGS, enqueue_mapped(_of_owned)),
            ],
            resync=self._resync,
        )

    async def _resync(self) -> Iterable[Request]:
        return await existing(self._client, OPERATOR_CONDITION)

    async def reconcile(self, request: Request) -> Outcome:
        """Brings the condition, its role and its binding forward. Raises ApiError."""
        for store in (self._csvs, self._conditions, self._roles, self._bindings):
            store.check_synced()
        condition = await self._condition(request)
        namespace, name = namespaced_name(request)
        if condition is None or goes(condition, self._csvs.get(name, namespace)):
            return Done()
        await self._ensure(self._roles, role_of(condition))
        await self._ensure(self._bindings, binding_of(condition))
        await self._manager.statuses.write(condition, projected(condition, self._clock()))
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log: the conditions are the operator's."""

    async def _condition(self, request: Request) -> KubeObject | None:
        """That of the name, as its ClusterServiceVersion asks, if there is one."""
        namespace, name = namespaced_name(request)
        csv, condition = self._csvs.get(name, namespace), self._conditions.get(name, namespace)
        if csv is None or is_deleting(csv) or LABEL_COPIED_FROM in labels_of(csv):
            return condition
        if condition is None:
            condition = await self._create(csv)
        elif patch := patch_to(csv, condition):
            condition = await self._client.patch(
                condition, patch, field_manager=OPERATOR_FIELD_MANAGER
            )
        self._conditions.update(condition)
        return condition

    async def _create(self, csv: KubeObject) -> KubeObject:
        """One that was there all the same is looked at again when the store has it."""
        wanted = condition_of(csv)
        try:
            made: KubeObject = await self._client.create(
                wanted, field_manager=OPERATOR_FIELD_MANAGER
            )
        except AlreadyExistsError:
            meta = wanted["metadata"]
            made = await self._client.get(OPERATOR_CONDITION, meta["name"], meta["namespace"])
        return made

    async def _ensure(self, store: Store[KubeObject], wanted: KubeObject) -> None:
        found = store.get(wanted["metadata"]["name"], wanted["metadata"]["namespace"])
        if found is not None and has(found, wanted):
            return
        if found is not None and found.get("roleRef") != wanted.get("roleRef"):
            await self._client.delete(found, uid=metadata(found)["uid"])
        store.update(await self._client.apply(wanted, field_manager=OPERATOR_FIELD_MANAGER))


def _of_csv(csv: KubeObject) -> list[Request]:
    return [] if LABEL_COPIED_FROM in labels_of(csv) else [request_of(csv)]


def _of_owned(obj: KubeObject) -> list[Request]:
    """The OperatorCondition that owns a role or binding."""
    owners = metadata(obj).get("ownerReferences") or ()
    return [request_for(o["name"], namespace_of(obj)) for o in owners if o.get("kind") == KIND]
