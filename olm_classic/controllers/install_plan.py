"""The controller of InstallPlans: writes the objects of their steps, once they are approved."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson
from msgspec.structs import replace

from api import wire
from api.objects import GVK, KubeObject, gvk_of, is_deleting, name_of, namespace_of
from api.operators.common import ObjectReference
from api.operators.v1alpha1.installplan import InstallPlan, InstallPlanStatus, Step
from olm_classic.install_plans.definitions import owner_conflict
from olm_classic.install_plans.lookups import BundleLookup, Unpacked
from olm_classic.install_plans.objects import objects_of
from olm_classic.install_plans.phases import (
    CREATED,
    INSTALLING,
    PRESENT,
    WAITING_FOR_API,
    account_missing,
    account_of,
    begun,
    checked,
    depends_on_rights,
    done,
    group_problem,
    is_over,
    is_resolved,
    managing_groups,
    may_be_tried_again,
    retried,
    tried,
)
from olm_classic.install_plans.steps import BUNDLE_SECRET, UNKNOWN
from olm_classic.io.applying import Applier
from olm_classic.io.step_errors import ForbiddenStepError, StepError, UnsupportedStepError
from olm_classic.io.unpacking import CONFIG_MAP
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP
from olm_classic.metrics import Metrics
from olm_classic.resolve import SourceKey
from olm_content.bundle.config_map import read_config_map
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch
from olm_runtime.controller.requests import Request, namespaced_name, request_of
from olm_runtime.errors import OLMError
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError
from olm_runtime.outcome import Done, Failed, Outcome, Wait
from olm_runtime.registry.pull_secrets import SECRET
from olm_runtime.watch.informer import Selection

NAME = "install-plan"
SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
RIGHTS = tuple(
    Selection(GVK("rbac.authorization.k8s.io", "v1", kind), metadata_only=True, cached=True)
    for kind in ("Role", "RoleBinding")
)
"""What may give an account other rights in its namespace."""
UNSUPPORTED = "UnsupportedResource"
UNWRITTEN = frozenset({UNKNOWN, WAITING_FOR_API, "NotPresent", UNSUPPORTED})
"""Statuses of steps that are not done."""
RETRY_SECONDS = 5.0
API_SECONDS = 0.2
"""Until a definition that was just made is looked at again."""


class InstallPlans:
    """Carries out plans; each may be killed at any write and is gone on with."""

    def __init__(
        self,
        manager: Manager,
        metrics: Metrics,
        *,
        clock: Callable[[], datetime],
        retry_seconds: float,
        system_namespace: str,
    ) -> None:
        """A plan that fails is tried for `retry_seconds`; the last is this program's own."""
        self._manager = manager
        self._metrics = metrics
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._system_namespace = system_namespace
        self._again: set[tuple[str, str]] = set()
        """Plans of accounts whose rights changed: tried once more if they failed, or when they do.

        The event of the rights may come before that of a plan that failed without them.
        """
        self._plans = manager.store(INSTALL_PLAN)
        self._groups = manager.store(OPERATOR_GROUP)
        self._csvs = manager.store(CLUSTER_SERVICE_VERSION)

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=(
                Watch(INSTALL_PLAN),
                Watch(OPERATOR_GROUP, enqueue_mapped(self._of_group)),
                *(Watch(each, self._take_rights) for each in RIGHTS),
            ),
        )

    def _of_group(self, group: KubeObject) -> list[Request]:
        return [request_of(each) for each in self._plans.by_index(NAMESPACE, namespace_of(group))]

    def _take_rights(self, event: Change, enqueue: Enqueue) -> None:
        """Rights in a namespace changed: plans that fail with those of an account may do now."""
        if not self._manager.started.is_set():
            return
        for plan in self._plans.by_index(NAMESPACE, namespace_of(event.new or event.old or {})):
            if depends_on_rights(InstallPlan.from_object(plan).status):
                self._again.add((namespace_of(plan), name_of(plan)))
                enqueue(request_of(plan))

    async def reconcile(self, request: Request) -> Outcome:
        """Brings one plan forward. Raises ApiError."""
        namespace, name = namespaced_name(request)
        raw = self._plans.get(name, namespace)
        if raw is None or is_deleting(raw):
            self._again.discard((namespace, name))
            return Done()
        plan = InstallPlan.from_object(raw)
        if (namespace, name) in self._again and may_be_tried_again(plan.status):
            await self._write(raw, retried(plan.status))
            self._again.discard((namespace, name))
            return Done()
        if not depends_on_rights(plan.status):
            self._again.discard((namespace, name))
        if is_over(plan) or not is_resolved(plan):
            return Done()
        managing = managing_groups(self._groups.by_index(NAMESPACE, namespace))
        problem = group_problem(managing) or await self._account_problem(managing[0])
        status = checked(plan.status, problem, self._clock())
        if not problem:
            status = begun(status, approved=plan.spec.approved)
        if problem or status.phase != INSTALLING:
            await self._write(raw, status)
            return Wait(RETRY_SECONDS) if problem and managing else Done()
        account = account_of(managing[0])
        reference = _reference(namespace, account) if account else None
        if reference != status.attenuated_service_account_ref:
            # With whose rights it is written stands there before anything is.
            status = replace(status, attenuated_service_account_ref=reference)
            raw = await self._write(raw, status)
        status, outcome = await self._carry_out(plan, status, raw)
        await self._write(raw, status)
        return outcome

    async def _account_problem(self, group: KubeObject) -> str:
        """Why objects cannot be written with the rights that an OperatorGroup asks for."""
        account = account_of(group)
        if not account:
            return ""
        client = self._manager.client
        found = await client.find(SERVICE_ACCOUNT, account, namespace_of(group), metadata_only=True)
        return "" if found else account_missing(group)

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """What keeps a plan is in its status; a status that cannot be written is tried again."""

    async def _carry_out(
        self, plan: InstallPlan, status: InstallPlanStatus, raw: KubeObject
    ) -> tuple[InstallPlanStatus, Outcome]:
        """The status after a try of all steps, and when to try again."""
        namespace = plan.metadata.namespace
        steps = list(status.plan)
        reference = status.attenuated_service_account_ref
        warnings: list[str] = []
        applier = Applier(
            self._manager.client,
            namespace,
            plan.metadata.name,
            account=reference.name if reference else "",
            announce=lambda happening: self._manager.events.announce(raw, [happening]),
            warned=warnings.append,
        )
        number = 0
        bundles = Bundles(self._manager.client, namespace)
        try:
            for number, step in enumerate(steps):
                if step.status in UNWRITTEN:
                    warnings.clear()
                    written = await self._write_step(plan, step, bundles, applier)
                    self._announce_warnings(raw, step, warnings)
                    made = step.status == WAITING_FOR_API and written == PRESENT
                    steps[number] = replace(step, status=CREATED if made else written)
        except OLMError as error:
            if isinstance(error, UnsupportedStepError):
                steps[number] = replace(steps[number], status=UNSUPPORTED)
            now = self._clock()
            status = tried(
                replace(status, plan=tuple(steps)),
                error.message,
                now,
                forbidden=reference is None
                and isinstance(error, ForbiddenError | ForbiddenStepError),
                seconds=self._retry_seconds,
            )
            return status, Done() if status.phase != INSTALLING else Wait(RETRY_SECONDS)
        status = replace(status, plan=tuple(steps))
        if any(each.status == WAITING_FOR_API for each in steps):
            return replace(status, start_time=status.start_time or self._clock()), Wait(API_SECONDS)
        return done(status, self._clock()), Done()

    async def _write_step(
        self, plan: InstallPlan, step: Step, bundles: "Bundles", applier: Applier
    ) -> str:
        """The status of the step. Raises StepError, ApiError."""
        resource, namespace = step.resource, plan.metadata.namespace
        if (resource.group, resource.kind) == ("", SECRET.kind):
            return await applier.copy_secret(resource.name, self._system_namespace)
        obj = await bundles.object_of(step)
        asked_for = plan.spec.cluster_service_version_names
        if obj["kind"] == CLUSTER_SERVICE_VERSION.kind and name_of(obj) not in asked_for:
            existing = self._csvs.by_index(NAMESPACE, namespace)
            problem = owner_conflict(obj, existing, namespace)
            if problem:
                raise StepError(problem)
        return await applier.apply(obj, step.resolving)

    def _announce_warnings(self, plan: KubeObject, step: Step, warnings: Sequence[str]) -> None:
        """One Event for all that the API server warned of at a step."""
        if not warnings:
            return
        self._metrics.warnings += 1
        resource = step.resource
        note = (
            f"{len(warnings)} warning(s) generated during installation of operator "
            f'"{step.resolving}" ({resource.kind} "{resource.name}"): {", ".join(warnings)}'
        )
        happening = Happening("Install", "AppliedWithWarnings", note, warning=True)
        self._manager.events.announce(plan, [happening])

    async def _write(self, raw: KubeObject, status: InstallPlanStatus) -> KubeObject:
        """The plan with this status, as it is stored."""
        if status == InstallPlan.from_object(raw).status:
            return raw
        return await self._manager.statuses.write(raw, wire.write(status)) or raw


def _reference(namespace: str, account: str) -> ObjectReference:
    kind = SERVICE_ACCOUNT
    return ObjectReference(
        api_version=kind.api_version, kind=kind.kind, namespace=namespace, name=account
    )


class Bundles:
    """The objects of steps, read again where the steps only say where they are."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._known: dict[str, dict[tuple[GVK, str], KubeObject]] = {}

    async def object_of(self, step: Step) -> KubeObject:
        """The object of a step. Raises StepError, ApiError."""
        found: KubeObject = orjson.loads(step.resource.manifest)
        if not _is_reference(found):
            return found
        if step.resource.manifest not in self._known:
            self._known[step.resource.manifest] = await self._read(step, found)
        resource = step.resource
        kind = "Secret" if resource.kind == BUNDLE_SECRET else resource.kind
        key = GVK(resource.group, resource.version, kind), resource.name
        obj = self._known[step.resource.manifest].get(key)
        if obj is None:
            raise StepError(f"{kind} {resource.name} is not in the bundle of {step.resolving}")
        return obj

    async def _read(
        self, step: Step, reference: dict[str, Any]
    ) -> dict[tuple[GVK, str], KubeObject]:
        where = str(reference["namespace"]), str(reference["name"])
        config_map = await self._client.get(CONFIG_MAP, where[1], where[0])
        source = SourceKey(reference["catalogSourceName"], reference["catalogSourceNamespace"])
        lookup = BundleLookup(
            step.resolving, "", reference["replaces"], source, reference["properties"]
        )
        bundle = Unpacked(lookup, read_config_map(config_map), where)
        objects = objects_of(bundle, self._namespace)
        return {(gvk_of(each), name_of(each)): each for each in objects}


def _is_reference(manifest: dict[str, Any]) -> bool:
    return manifest.get("kind") == "ConfigMap" and "catalogSourceName" in manifest
