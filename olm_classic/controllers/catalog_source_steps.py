"""The steps of a CatalogSource, from its specification to a connection."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from api.objects import KubeObject, labels_of, metadata, name_of, namespace_of
from api.operators.v1alpha1.catalogsource import (
    CatalogSource,
    ConfigMapReference,
    ConnectionState,
)
from olm_classic.catalog_sources import objects, polling, serving, templates
from olm_classic.catalog_sources.labels import (
    is_owned,
    service_address,
    service_name,
)
from olm_classic.catalog_sources.observed import address_of, created_at, is_ready
from olm_classic.catalog_sources.pods import (
    PodSettings,
    catalog_pod,
    serving_container,
    update_pod,
)
from olm_classic.catalog_sources.status import Findings, Problem
from olm_classic.catalog_sources.validation import (
    Reason,
    is_address,
    is_config_map,
    is_image,
    problem_of,
)
from olm_classic.controllers.shared_catalogs import SharedCatalogs
from olm_classic.io.catalog_config_maps import CatalogConfigMaps
from olm_classic.io.catalog_listener import NoPortError
from olm_classic.io.catalog_pods import CatalogPods
from olm_classic.io.owned_objects import OwnedObjects
from olm_classic.io.registry import Connections, Key, RegistryConnection, Target
from olm_classic.io.server_version import ServerVersion
from olm_classic.names import FIELD_MANAGER
from olm_rollout.pods import reason_of
from olm_runtime.controller.manager import NAMESPACE
from olm_runtime.controller.reconciler import Finish, Stop
from olm_runtime.disk import DiskError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError
from olm_runtime.outcome import Done, Retry
from olm_runtime.watch.store import Store

OTHERS_PULL_SECRETS = "-dockercfg-"
"""In the names of pull secrets that OpenShift adds to every service account."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What is known of a CatalogSource.

    raw    the object as it was read
    pod    that serves it; None where none does, or none of ours
    target where this process serves it; None where it does not
    again  seconds until something is due; None for nothing
    """

    raw: KubeObject
    source: CatalogSource
    found: Findings = field(default_factory=Findings)
    pod: KubeObject | None = None
    target: Target | None = None
    again: float | None = None

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.source.metadata.namespace, self.source.metadata.name

    def with_found(self, **fields: Any) -> "Context":
        """The same with other findings; a problem that is known stays."""
        if self.found.problem is not None:
            fields.pop("problem", None)
        return replace(self, found=replace(self.found, **fields))

    def wake(self, seconds: float | None) -> "Context":
        """The same, due after so many seconds, if not sooner."""
        due = [each for each in (self.again, seconds) if each is not None]
        return replace(self, again=min(due, default=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSourceSteps:
    """The steps in order; each takes what is known and returns it with what it found.

    Of namespaces the store has metadata only. `shared` serves images here; None
    where a pod does.
    """

    client: KubeClient
    pods: CatalogPods
    config_maps: CatalogConfigMaps
    namespaces: Store[KubeObject]
    owned: OwnedObjects
    connections: Connections
    version: ServerVersion
    settings: PodSettings
    clock: Callable[[], datetime]
    shared: SharedCatalogs | None = None
    failed_polls: dict[Key, str] = field(default_factory=dict)
    """Why the last look at an image came to nothing."""

    def begin(self, raw: KubeObject) -> Context:
        """What an object says of itself: what a step cannot find out stays as it was.

        Raises InvalidObjectError.
        """
        source = CatalogSource.from_object(raw)
        status, service = source.status, source.status.registry_service
        held = self.connections.get((source.metadata.namespace, source.metadata.name))
        known = Findings(
            config_map=status.config_map_reference,
            created=service.created_at if service else None,
            connection=_state(held) if held else status.connection_state,
            last_poll=status.latest_image_registry_poll,
        )
        return Context(raw=raw, source=source, found=known)

    async def fill_in_template(self, context: Context) -> Context | Stop:
        """Sets `spec.image` to what its template says of this cluster. Raises ApiError."""
        template = context.source.metadata.annotations.get(templates.ANNOTATION)
        if not template:
            return context
        try:
            version = await self.version.git_version()
        except ApiError as error:
            return Stop(Retry(error.message))  # the conditions stay as they are
        resolved = templates.resolve(template, templates.variables(version))
        if not resolved.usable or resolved.image == context.source.spec.image:
            return context.with_found(image=resolved)
        meta = {"resourceVersion": metadata(context.raw)["resourceVersion"]}
        patch = {"metadata": meta, "spec": {"image": resolved.image}}
        await self.client.patch(context.raw, patch, field_manager=FIELD_MANAGER)
        return Stop(Done())  # the object changed, which begins another reconcile

    async def validate(self, context: Context) -> Context | Finish[Context]:
        """Ends with a specification that nothing can serve."""
        problem = problem_of(context.source.spec)
        if not problem:
            return context
        await self.connections.drop(context.key)
        invalid = Problem(Reason.SPEC_INVALID, problem)
        return Finish(replace(context, found=Findings(image=context.found.image, problem=invalid)))

    async def adopt_config_map(self, context: Context) -> Context | Finish[Context]:
        """Makes the ConfigMap known to our watch. Raises NotSyncedError."""
        if not is_config_map(context.source.spec):
            return context.with_found(config_map=None)
        name, namespace = context.source.spec.config_map, context.key[0]
        try:
            found = await self.config_maps.adopted(context.raw, name, namespace)
        except ApiError as error:
            message = f"failed to get catalog config map {name}: {error.message}"
            problem = Problem(Reason.CONFIG_MAP, message, passing=True)
            return Finish(context.with_found(problem=problem))
        return context.with_found(config_map=self._reference(context, found))

    async def ensure_server(self, context: Context) -> Context:
        """Has the pod and what stands around it. Raises NotSyncedError."""
        if is_address(context.source.spec):
            return await self._without_server(context)
        try:
            if self.shared is not None and is_image(context.source.spec):
                return await self._served_here(context, self.shared)
            return await self._served(context)
        except (ApiError, DiskError, NoPortError) as error:
            return context.with_found(problem=_server_problem(error.message, passing=True))

    async def poll(self, context: Context) -> Context:
        """Looks whether the image has newer content. Raises NotSyncedError."""
        interval, pod = polling.interval_of(context.source.spec), context.pod
        if interval is None:
            context = context.with_found(last_poll=None)
        elif interval.problem:
            problem = Problem(Reason.INVALID_INTERVAL, interval.problem)
            context = context.with_found(problem=problem)
        try:
            if interval is None or pod is None:
                await self.pods.delete(self.pods.updates(context.raw))
                return context
            return await self._polled(context, pod, interval)
        except ApiError as error:
            return context.with_found(problem=_server_problem(error.message, passing=True))

    async def connect(self, context: Context) -> Context:
        """Holds a connection to the server, wherever it runs."""
        spec = context.source.spec
        if is_address(spec):
            target = Target(spec.address)
        elif context.target is not None:
            target = context.target
        elif context.pod is not None:
            address = service_address(*context.key)
            target = Target(address, address_of(context.pod), metadata(context.pod)["uid"])
        else:
            await self.connections.drop(context.key)
            return context.with_found(connection=None)
        connection = await self.connections.ensure(context.key, target)
        return context.with_found(connection=_state(connection))

    def _reference(self, context: Context, found: KubeObject) -> ConfigMapReference:
        meta, known = metadata(found), context.source.status.config_map_reference
        is_known = known is not None and known.resource_version == meta["resourceVersion"]
        return ConfigMapReference(
            name=name_of(found),
            namespace=namespace_of(found),
            uid=meta["uid"],
            resource_version=meta["resourceVersion"],
            last_update_time=known.last_update_time if known and is_known else self.clock(),
        )

    async def _without_server(self, context: Context) -> Context:
        """Removes what served an image before there was an address."""
        status = context.source.status.registry_service
        is_ours = status is not None and not status.service_name
        created = status.created_at if status is not None and is_ours else self.clock()
        try:
            await self.pods.delete(self.pods.serving(context.raw))
            for kind, store in self.owned.stores.items():
                for obj in store.by_index(NAMESPACE, context.key[0]):
                    if is_owned(obj, context.raw):
                        log.info("%s %s is not needed any more", kind.kind, name_of(obj))
                        await self.owned.remove(obj)
        except ApiError as error:
            context = context.with_found(problem=_server_problem(error.message, passing=True))
        return context.with_found(created=created)

    async def _served(self, context: Context) -> Context:
        source, raw = context.source, context.raw
        account = objects.account_name(source)
        others = self._others_pull_secrets(account, context.key[0])
        for obj in objects.objects(source, raw, others):
            await self.owned.ensure(obj)
        await self._remove_endpoints(context)
        wanted = self._wanted(context, account)
        decided = serving.choose(self.pods.serving(context.raw), wanted, self.clock())
        context = context.wake(decided.again)
        pod = decided.pod
        if pod is None and decided.again is None:
            pod = await self.pods.create(wanted)
        await self.pods.delete(decided.delete)
        if pod is None:
            return context
        if not is_ready(pod) and (reason := reason_of([pod])):
            message = f"pod {name_of(pod)}: {reason}"
            context = context.with_found(problem=_server_problem(message))
        return replace(context.with_found(created=created_at(pod)), pod=pod)

    async def _remove_endpoints(self, context: Context) -> None:
        """The Service leads to the pod, and no more to where it was served without one."""
        namespace, name = context.key
        left = self.owned.find(objects.ENDPOINT_SLICE, service_name(name), namespace)
        if left is not None and is_owned(left, context.raw):
            await self.owned.remove(left)

    async def _served_here(self, context: Context, shared: SharedCatalogs) -> Context:
        """As `_served`, without a pod. Raises ApiError, DiskError, NoPortError, NotSyncedError."""
        found, target = await shared.ensure(context.source, context.raw)
        await self.pods.delete(self.pods.serving(context.raw))
        context = context.with_found(created=found.since, last_poll=found.polled)
        if found.problem:
            context = context.with_found(problem=_server_problem(found.problem))
        return replace(context, target=target).wake(found.again)

    def _wanted(self, context: Context, account: str) -> KubeObject:
        namespace = self.namespaces.get(context.key[0])
        config_map = context.found.config_map
        return catalog_pod(
            context.source,
            context.raw,
            self.settings,
            namespace_labels=labels_of(namespace) if namespace else {},
            account=account,
            config_map_version=config_map.resource_version if config_map else "",
        )

    def _others_pull_secrets(self, account: str, namespace: str) -> list[str]:
        found = self.owned.find(objects.ACCOUNT, account, namespace) or {}
        names = [each.get("name", "") for each in found.get("imagePullSecrets") or ()]
        return [name for name in names if OTHERS_PULL_SECRETS in name]

    async def _polled(
        self, context: Context, pod: KubeObject, interval: polling.Interval
    ) -> Context:
        """Does what is due. Raises ApiError."""
        updates = self.pods.updates(context.raw)
        now = self.clock()
        begun = [created_at(each) for each in updates]
        last = max([*begun, *filter(None, [context.found.last_poll])], default=None)
        due = polling.poll(
            pod,
            updates,
            container=serving_container(context.source),
            every=interval.every,
            last=last,
            now=now,
        )
        context = context.with_found(last_poll=last).wake(due.again)
        if due.start or due.promote:
            self.failed_polls.pop(context.key, None)
        if due.start:
            account = objects.account_name(context.source)
            await self.pods.create(update_pod(self._wanted(context, account)))
            context = context.with_found(last_poll=now)
        if due.promote is not None:
            promoted = await self.pods.promote(due.promote, pod)
            context = replace(context.with_found(created=created_at(promoted)), pod=promoted)
        await self.pods.delete(due.delete)
        if due.failure:
            self.failed_polls[context.key] = due.failure
        if failure := self.failed_polls.get(context.key):
            return context.with_found(problem=_server_problem(f"update pod: {failure}"))
        return context


def _state(connection: RegistryConnection) -> ConnectionState:
    return ConnectionState(
        address=connection.target.address,
        last_observed_state=connection.state,
        last_connect=connection.since,
    )


def _server_problem(message: str, *, passing: bool = False) -> Problem:
    text = f"couldn't ensure registry server - {message}"
    return Problem(Reason.REGISTRY_SERVER, text, passing=passing)
