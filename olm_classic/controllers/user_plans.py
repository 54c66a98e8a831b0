"""The controller of InstallPlans that users make: finds the steps for the CSVs that they name."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from msgspec import structs

from api import wire
from api.objects import GVK, KubeObject, is_deleting, name_of, namespace_of
from api.operators.v1alpha1.installplan import InstallPlan, InstallPlanStatus
from olm_classic.controllers.namespace import Parts
from olm_classic.controllers.namespace_watches import CATALOG_CHANGES, VERSION_CHANGES
from olm_classic.install_plans.lookups import UnpackFailed, Unpacking
from olm_classic.install_plans.phases import INSTALLING, REQUIRES_APPROVAL, done
from olm_classic.install_plans.resolving import (
    DEPENDENCIES_CONFLICT,
    PLANNING,
    is_to_be_approved,
    is_to_be_resolved,
    planning,
    resolved,
    unresolved,
)
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
)
from olm_classic.metrics import Key
from olm_classic.names import FIELD_MANAGER
from olm_classic.resolve import Namespace, ResolutionError, SourceKey, UnsatisfiableError, Wanted
from olm_classic.subscriptions.conditions import ERROR_PREVENTED_RESOLUTION
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch
from olm_runtime.controller.requests import Request, namespaced_name, request_of
from olm_runtime.errors import WaitingError
from olm_runtime.outcome import Done, Failed, Outcome, Retry, Wait

NAME = "user-install-plan"


class UserPlans:
    """Resolves each together with what is installed, without the namespace's Subscriptions.

    It has no Subscriptions made for dependencies, either: what a user names is installed once.
    """

    def __init__(
        self,
        manager: Manager,
        parts: Parts,
        *,
        global_namespace: str,
        clock: Callable[[], datetime],
    ) -> None:
        """The catalogs of `global_namespace` are for all namespaces."""
        self._manager = manager
        self._parts = parts
        self._global = global_namespace
        self._clock = clock
        self._plans = manager.store(INSTALL_PLAN)

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        enqueue_waiting = enqueue_mapped(lambda obj: self._waiting_in(namespace_of(obj)))
        return Registration(
            name=NAME,
            reconciler=self,
            watches=(
                Watch(INSTALL_PLAN, predicates=[lambda event: _is_waiting(event.object)]),
                Watch(OPERATOR_GROUP, enqueue_waiting),
                Watch(CLUSTER_SERVICE_VERSION, enqueue_waiting, VERSION_CHANGES),
                Watch(CATALOG_SOURCE, enqueue_mapped(self._seeing_it), CATALOG_CHANGES),
            ),
        )

    def take_content(self, catalog: Key) -> None:
        """A catalog has other content."""
        for request in self._seeing(catalog[0]):
            self._manager.enqueue(NAME, request)

    def _seeing_it(self, catalog: KubeObject) -> list[Request]:
        return self._seeing(namespace_of(catalog))

    def _seeing(self, catalog_namespace: str) -> list[Request]:
        if catalog_namespace != self._global:
            return self._waiting_in(catalog_namespace)
        return [request_of(plan) for _, plan in self._plans.items() if _is_waiting(plan)]

    def _waiting_in(self, namespace: str) -> list[Request]:
        plans = self._plans.by_index(NAMESPACE, namespace)
        return [request_of(plan) for plan in plans if _is_waiting(plan)]

    async def reconcile(self, request: Request) -> Outcome:
        """Brings one plan to its steps. Raises ApiError."""
        namespace, name = namespaced_name(request)
        raw = self._plans.get(name, namespace)
        if raw is None or is_deleting(raw) or not _is_waiting(raw):
            return Done()
        plan = InstallPlan.from_object(raw)
        status, outcome = await self._resolve(plan)
        if status.phase == INSTALLING and is_to_be_approved(plan):
            approved = {"spec": {"approved": True}}
            raw = await self._manager.client.patch(raw, approved, field_manager=FIELD_MANAGER)
        if status != plan.status:
            await self._manager.statuses.write(raw, wire.write(status))
        return outcome

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """What keeps a plan is in its status; a status that cannot be written is tried again."""

    async def _resolve(self, plan: InstallPlan) -> tuple[InstallPlanStatus, Outcome]:
        now, before = self._clock(), plan.status
        try:
            question = self._question(plan)
            found = await self._parts.resolver.resolve_namespace(question)
        except WaitingError as error:
            return planning(before, error.message), Wait(error.seconds, error.message)
        except UnsatisfiableError as error:
            return unresolved(before, DEPENDENCIES_CONFLICT, error.describe(), now), Done()
        except ResolutionError as error:
            said = unresolved(before, ERROR_PREVENTED_RESOLUTION, error.describe(), now)
            return said, Retry(error.message)
        found = replace(found, generated=())
        steps = await self._parts.planner.steps(question.name, found, question.groups)
        match steps:
            case Unpacking(message=message, again=again):
                return planning(before, message), Wait(again)
            case UnpackFailed(reason=reason, message=message, again=again):
                return unresolved(before, reason, message, now), Wait(again)
        status = resolved(before, now)
        if not found.planned:
            return done(status, now), Done()
        goes_on = plan.spec.approved or is_to_be_approved(plan)
        phase = INSTALLING if goes_on else REQUIRES_APPROVAL
        planned = wire.read(InstallPlanStatus, {"phase": phase, **steps.status})
        return structs.replace(planned, conditions=status.conditions), Done()

    def _question(self, plan: InstallPlan) -> Namespace:
        """What is to be resolved. Raises WaitingError."""
        namespace, spec = plan.metadata.namespace, plan.spec
        visible = dict.fromkeys((namespace, self._global))
        sources = [each for where in visible for each in self._in(CATALOG_SOURCE, where)]
        return Namespace(
            namespace,
            self._global,
            tuple(self._in(OPERATOR_GROUP, namespace)),
            (),
            tuple(self._in(CLUSTER_SERVICE_VERSION, namespace)),
            self._parts.contents.catalogs(sources),
            Wanted(
                spec.cluster_service_version_names, SourceKey(spec.source, spec.source_namespace)
            ),
        )

    def _in(self, kind: GVK, namespace: str) -> list[KubeObject]:
        store = self._manager.store(kind)
        store.check_synced()
        return sorted(store.by_index(NAMESPACE, namespace), key=name_of)


def _is_waiting(plan: KubeObject) -> bool:
    if (plan.get("status") or {}).get("phase") not in {None, "", PLANNING}:
        return False  # nearly all, and large
    return is_to_be_resolved(InstallPlan.from_object(plan))
