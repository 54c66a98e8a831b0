"""The controller of CatalogSources."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from api.objects import GVK, KubeObject, labels_of, metadata, name_of, namespace_of
from olm_classic.catalog_sources import objects
from olm_classic.catalog_sources.labels import LABEL_CATALOG, LABEL_SERVICE_HASH, LABEL_UPDATE
from olm_classic.catalog_sources.pods import PodSettings
from olm_classic.catalog_sources.status import status_of
from olm_classic.controllers.catalog_source_steps import CatalogSourceSteps, Context
from olm_classic.io.catalog_pods import CatalogPods
from olm_classic.io.owned_objects import OwnedObjects
from olm_classic.io.registry import Connections, ConnectionState, Key
from olm_classic.io.server_version import ServerVersion
from olm_classic.kinds import CATALOG_SOURCE
from olm_classic.names import LABEL_MANAGED
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch, existing
from olm_runtime.controller.reconciler import Controller
from olm_runtime.controller.requests import Request, namespaced_name, request_for, request_of
from olm_runtime.outcome import Done, Outcome, Retry
from olm_runtime.proxies import Proxies
from olm_runtime.watch.informer import Selection

NAME = "catalogsource"
RETRY_WITHIN_SECONDS = 10.0

PODS = Selection(objects.POD, labels=LABEL_CATALOG)
CONFIG_MAPS = Selection(objects.CONFIG_MAP, labels=LABEL_MANAGED, metadata_only=True)
NAMESPACES = Selection(objects.NAMESPACE, metadata_only=True)


def _owned(kind: GVK) -> Selection:
    if kind == objects.SERVICE:
        return Selection(kind, labels=LABEL_SERVICE_HASH, metadata_only=True)
    return Selection(kind, labels=f"{LABEL_MANAGED}=true", metadata_only=kind != objects.ACCOUNT)


OWNED: Mapping[GVK, Selection] = {kind: _owned(kind) for kind in objects.OWNED}


async def _ignore(_: Key) -> None:
    pass


def _unheard(_: Key) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Who is told of catalogs.

    on_ready  a connection to its server stands: content may be new
    on_gone   awaited when it exists no more
    """

    on_ready: Callable[[Key], None] = _unheard
    on_gone: Callable[[Key], Awaitable[None]] = _ignore


class CatalogSources:
    """The controller, and the connections that it holds."""

    def __init__(
        self,
        manager: Manager,
        settings: PodSettings,
        listeners: Listeners,
        *,
        clock: Callable[[], datetime],
        proxies: Proxies | None = None,
    ) -> None:
        """`proxies` are those for registries of catalogs."""
        self._manager = manager
        self._listeners = listeners
        self._catalogs = manager.store(CATALOG_SOURCE)
        self.connections = Connections(self._connection_changed, clock=clock, proxies=proxies)
        self._steps = CatalogSourceSteps(
            client=manager.client,
            pods=CatalogPods(manager.client, manager.selected(PODS)),
            config_maps=manager.selected(CONFIG_MAPS),
            namespaces=manager.selected(NAMESPACES),
            owned=OwnedObjects(
                manager.client,
                {kind: manager.selected(each) for kind, each in OWNED.items()},
                exact=frozenset({objects.NETWORK_POLICY}),
            ),
            connections=self.connections,
            version=ServerVersion(manager.client),
            settings=settings,
            clock=clock,
        )

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        manager = self._manager
        return Registration(
            name=NAME,
            reconciler=manager.reconciler(self._controller()),
            watches=[
                Watch(CATALOG_SOURCE, manager.enqueue_changed),
                Watch(PODS, enqueue_mapped(_catalogs_of_pod)),
                Watch(CONFIG_MAPS, enqueue_mapped(_owners)),
                Watch(NAMESPACES, enqueue_mapped(self._catalogs_in)),
                *(Watch(each, enqueue_mapped(_owners)) for each in OWNED.values()),
            ],
            resync=partial(existing, manager.client, CATALOG_SOURCE),
        )

    async def close(self) -> None:
        """Ends all connections."""
        await self.connections.close()

    def _controller(self) -> Controller[Context]:
        steps = self._steps
        return Controller(
            kind=CATALOG_SOURCE,
            begin=steps.begin,
            steps=(
                steps.fill_in_template,
                steps.validate,
                steps.adopt_config_map,
                steps.ensure_server,
                steps.poll,
                steps.connect,
            ),
            status=_status,
            conclude=_conclude,
            gone=self._gone,
            kstatus=False,
        )

    def _connection_changed(self, key: Key) -> None:
        connection = self.connections.get(key)
        if connection is not None and connection.state is ConnectionState.READY:
            self._listeners.on_ready(key)
        self._manager.enqueue(NAME, request_for(key[1], key[0]))

    async def _gone(self, request: Request) -> None:
        key = namespaced_name(request)
        await self.connections.drop(key)
        await self._listeners.on_gone(key)

    def _catalogs_in(self, namespace: KubeObject) -> list[Request]:
        return [request_of(obj) for obj in self._catalogs.by_index(NAMESPACE, name_of(namespace))]


def _status(context: Context, _: Outcome, now: datetime) -> Mapping[str, Any]:
    return status_of(context.source, context.found, now)


async def _conclude(context: Context, ended: Outcome) -> Outcome:
    if not isinstance(ended, Done):
        return ended
    problem = context.found.problem
    if problem is not None and problem.passing:
        return Retry(problem.message, within=RETRY_WITHIN_SECONDS)
    return Done(requeue_after=context.again)


def _catalogs_of_pod(pod: KubeObject) -> Iterable[Request]:
    labels = labels_of(pod)
    names = {labels.get(LABEL_CATALOG), labels.get(LABEL_UPDATE)}
    return [request_for(name, namespace_of(pod)) for name in names if name]


def _owners(obj: KubeObject) -> Iterable[Request]:
    return [
        request_for(owner["name"], namespace_of(obj))
        for owner in metadata(obj).get("ownerReferences") or ()
        if owner["kind"] == CATALOG_SOURCE.kind
    ]
