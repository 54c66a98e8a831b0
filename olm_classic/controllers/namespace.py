"""The controller of namespaces: keeps what Subscriptions say, resolves them, and makes plans.

What it finds is decided by `olm_classic.subscriptions`. It may be killed between any two writes: a
plan is created first, then Subscriptions refer to it, and with its steps, last, it may begin.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from msgspec import structs

from api import wire
from api.objects import GVK, KubeObject, is_deleting, name_of
from api.operators.v1alpha1.catalogsource import CatalogSource
from api.operators.v1alpha1.installplan import InstallPlan
from api.operators.v1alpha1.subscription import Subscription, SubscriptionStatus
from olm_classic.controllers.catalog_contents import CatalogContents
from olm_classic.install_plans.lookups import UnpackFailed, Unpacking
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.metrics import Metrics, ResolutionOutcome
from olm_classic.names import FIELD_MANAGER
from olm_classic.resolve import Namespace, Resolution, ResolutionError, UnsatisfiableError
from olm_classic.subscriptions.conditions import (
    CONSTRAINTS_NOT_SATISFIABLE,
    ENSURE_INSTALL_PLAN_FAILED,
    ERROR_PREVENTED_RESOLUTION,
    with_resolution_failed,
    with_unpack_failed,
    with_unpacking,
    without_resolution,
)
from olm_classic.subscriptions.loop import left_out, observed, why_at_rest
from olm_classic.subscriptions.plans import followers, is_same, new_plan, surplus, unfinished
from olm_classic.subscriptions.states import with_adopted, with_plan
from olm_classic.subscriptions.view import View, own_csvs
from olm_runtime.controller.manager import NAMESPACE, Manager
from olm_runtime.controller.requests import Request
from olm_runtime.errors import WaitingError
from olm_runtime.event import Happening
from olm_runtime.kube.errors import ApiError
from olm_runtime.outcome import Blocked, Done, Failed, Outcome, Retry, Wait

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Steps:
    """What a plan is made of: `status` without its phase, and the CSVs in the plan's order."""

    csvs: tuple[str, ...]
    status: Mapping[str, object]


class Resolver(Protocol):
    """Finds what a namespace is to have installed."""

    async def resolve_namespace(self, namespace: Namespace) -> Resolution:
        """The solution. Raises UnsatisfiableError, ResolutionError."""


class Planner(Protocol):
    """Makes steps of what was resolved."""

    async def steps(
        self, namespace: str, resolution: Resolution, groups: tuple[KubeObject, ...]
    ) -> Steps | Unpacking | UnpackFailed:
        """The steps, once all bundles are unpacked."""


@dataclass(frozen=True, slots=True)
class Look:
    """A namespace at a moment, and its objects as they are for the resolver and for writes."""

    view: View
    subscriptions: Mapping[str, KubeObject]
    plans: Mapping[str, KubeObject]
    csvs: tuple[KubeObject, ...]
    sources: tuple[KubeObject, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a namespace is resolved and planned with."""

    contents: CatalogContents
    resolver: Resolver
    planner: Planner
    metrics: Metrics


class NamespaceReconciler:
    """Requests are names of namespaces."""

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
        self._contents = parts.contents
        self._resolver = parts.resolver
        self._planner = parts.planner
        self._metrics = parts.metrics
        self._global = global_namespace
        self._clock = clock

    async def reconcile(self, request: Request) -> Outcome:
        """Brings the Subscriptions of a namespace one step forward. Raises ApiError."""
        look = self._look(request)
        for plan in surplus(look.view):
            await self._delete(look.plans[plan.metadata.name])
        if not look.view.subscriptions:
            return Done()
        if await self._write(look, observed(look.view)):
            look = self._look(request)
        outcome = await self._advance(look)
        look = self._look(request)
        await self._write(look, observed(look.view))
        return outcome

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """A failure that no condition stands for is in the log."""
        log.warning("namespace %s: %s", request, failed.message)

    async def _advance(self, look: Look) -> Outcome:
        view = look.view
        if len(view.groups) != 1:
            return Blocked("OperatorGroup", f"found {len(view.groups)} operatorGroups, expected 1")
        if why_at_rest(view):
            return Done()
        try:
            resolution = await self._resolve(look)
        except UnsatisfiableError as error:
            await self._say_failed(look, CONSTRAINTS_NOT_SATISFIABLE, error)
            return Done()
        except ResolutionError as error:
            await self._say_failed(look, ERROR_PREVENTED_RESOLUTION, error)
            return Retry(error.message)
        except WaitingError as error:
            return Wait(error.seconds, error.message)
        return await self._follow(self._adopt(look, resolution), resolution)

    async def _resolve(self, look: Look) -> Resolution:
        view, hidden = look.view, left_out(look.view)
        namespace = Namespace(
            view.namespace,
            self._global,
            view.groups,
            tuple(look.subscriptions.values()),
            tuple(csv for csv in look.csvs if name_of(csv) not in hidden),
            self._contents.catalogs(look.sources),
        )
        clock = asyncio.get_running_loop().time
        began, outcome = clock(), ResolutionOutcome.FAILED
        try:
            found = await self._resolver.resolve_namespace(namespace)
            outcome = ResolutionOutcome.SUCCEEDED
        finally:
            self._metrics.resolved(outcome, clock() - began, clock())
        return found

    async def _follow(self, look: Look, resolution: Resolution) -> Outcome:
        """Has a plan for what was resolved, if that is something new."""
        begun = unfinished(look.view)
        if not resolution.updated and begun is None:
            await self._write(look, _each(look, without_resolution))
            return Done()
        steps = await self._planner.steps(look.view.namespace, resolution, look.view.groups)
        match steps:
            case Unpacking(message=message, again=again):
                await self._write(look, _each(look, lambda s: with_unpacking(s, message)))
                return Wait(again)
            case UnpackFailed(reason=reason, message=message, again=again):
                await self._say_unpack_failed(look, reason, message)
                return Wait(again)
        if begun is not None and not is_same(begun, look.view, steps.csvs):
            await self._delete(look.plans[begun.metadata.name])
            begun = None
        if resolution.updated or begun is not None:
            await self._plan(look, resolution, steps, begun)
        return Done()

    async def _plan(
        self, look: Look, resolution: Resolution, steps: Steps, begun: InstallPlan | None
    ) -> None:
        """Makes the plan, or goes on with the one that was begun."""
        raw = look.plans[begun.metadata.name] if begun else await self._create_plan(look, steps)
        plan, statuses = InstallPlan.from_object(raw), _each(look, without_resolution)
        updated = dict(resolution.updated)
        for name, csv in followers(look.view, updated, steps.csvs).items():
            statuses[name] = with_plan(statuses[name], plan, csv)
        await self._write(look, statuses)
        phase = "Installing" if plan.spec.approved else "RequiresApproval"
        await self._manager.statuses.write(raw, {"phase": phase, **steps.status})

    async def _create_plan(self, look: Look, steps: Steps) -> KubeObject:
        plan = new_plan(look.view, steps.csvs)
        try:
            made: KubeObject = await self._manager.client.create(plan, field_manager=FIELD_MANAGER)
        except ApiError as error:
            await self._say_unpack_failed(look, ENSURE_INSTALL_PLAN_FAILED, error.message)
            raise
        self._manager.store(INSTALL_PLAN).update(made)
        return made

    async def _delete(self, plan: KubeObject) -> None:
        await self._manager.client.delete(plan, uid=plan["metadata"]["uid"])
        self._manager.store(INSTALL_PLAN).delete(plan)

    def _adopt(self, look: Look, resolution: Resolution) -> Look:
        """The look with Subscriptions that go on from what others left installed."""
        adopted = dict(resolution.adopted)
        statuses = {
            each.metadata.name: with_adopted(each.status, adopted[each.metadata.name])
            for each in look.view.subscriptions
            if each.metadata.name in adopted
        }
        return replace(look, view=look.view.with_statuses(statuses))

    async def _say_failed(self, look: Look, reason: str, error: ResolutionError) -> None:
        message = error.describe()
        changed = _each(look, lambda s: with_resolution_failed(s, reason, message))
        if await self._write(look, changed):
            about: KubeObject = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": look.view.namespace},
            }
            happening = Happening("Resolve", "ResolutionFailed", error.message, warning=True)
            self._manager.events.announce(about, [happening])

    async def _say_unpack_failed(self, look: Look, reason: str, message: str) -> None:
        changed = _each(look, lambda s: with_unpack_failed(s, reason, message))
        happening = Happening("Unpack", "BundleUnpackFailed", message, warning=True)
        for name in await self._write(look, changed):
            self._manager.events.announce(look.subscriptions[name], [happening])

    async def _write(self, look: Look, statuses: Mapping[str, SubscriptionStatus]) -> list[str]:
        """Writes the statuses that are others than the API server has; their Subscriptions."""
        written = []
        for name, raw in look.subscriptions.items():
            before, status = Subscription.from_object(raw).status, statuses[name]
            if structs.replace(status, last_updated=before.last_updated) == before:
                continue
            changed = wire.write(structs.replace(status, last_updated=look.view.now))
            await self._manager.statuses.write(raw, changed)
            written.append(name)
        return written

    def _look(self, namespace: str) -> Look:
        subscriptions = {
            name_of(each): each
            for each in self._in(SUBSCRIPTION, namespace)
            if not is_deleting(each)
        }
        plans = {name_of(each): each for each in self._in(INSTALL_PLAN, namespace)}
        csvs = tuple(self._in(CLUSTER_SERVICE_VERSION, namespace))
        visible = dict.fromkeys((namespace, self._global))
        sources = tuple(each for where in visible for each in self._in(CATALOG_SOURCE, where))
        view = View(
            namespace=namespace,
            now=self._clock(),
            subscriptions=tuple(map(Subscription.from_object, subscriptions.values())),
            plans=tuple(map(InstallPlan.from_object, plans.values())),
            csvs=own_csvs(csvs),
            groups=tuple(self._in(OPERATOR_GROUP, namespace)),
            catalogs=tuple(map(CatalogSource.from_object, sources)),
        )
        view = replace(view, deprecations=self._contents.deprecations(view.subscriptions))
        return Look(view, subscriptions, plans, csvs, sources)

    def _in(self, kind: GVK, namespace: str) -> list[KubeObject]:
        store = self._manager.store(kind)
        store.check_synced()
        return sorted(store.by_index(NAMESPACE, namespace), key=name_of)


def _each(
    look: Look, change: Callable[[SubscriptionStatus], SubscriptionStatus]
) -> dict[str, SubscriptionStatus]:
    return {each.metadata.name: change(each.status) for each in look.view.subscriptions}
