"""The controller of CatalogSources."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from api.objects import GVK, KubeObject, labels_of, metadata, name_of, namespace_of
from olm_classic.catalog_sources import objects
from olm_classic.catalog_sources.labels import LABEL_CATALOG, LABEL_SERVICE_HASH, LABEL_UPDATE
from olm_classic.catalog_sources.pods import PodSettings
from olm_classic.catalog_sources.status import status_of
from olm_classic.controllers.catalog_source_steps import CatalogSourceSteps, Context
from olm_classic.controllers.shared_catalogs import SharedCatalogs
from olm_classic.io.catalog_config_maps import CatalogConfigMaps
from olm_classic.io.catalog_listener import Ports
from olm_classic.io.catalog_pods import CatalogPods
from olm_classic.io.catalogd import Catalogd
from olm_classic.io.owned_objects import OwnedObjects
from olm_classic.io.registry import Connections, ConnectionState, Key
from olm_classic.io.server_version import ServerVersion
from olm_classic.io.shared_serving import Pulls, SharedServing
from olm_classic.kinds import CATALOG_SOURCE
from olm_classic.names import LABEL_MANAGED
from olm_runtime.controller.handlers import enqueue_mapped
from olm_runtime.controller.manager import NAMESPACE, Manager, Registration, Watch, existing
from olm_runtime.controller.reconciler import Controller
from olm_runtime.controller.requests import Request, namespaced_name, request_for, request_of
from olm_runtime.outcome import Done, Outcome, Retry
from olm_runtime.proxies import Proxies
from olm_runtime.registry.settings import PullSettings
from olm_runtime.watch.informer import Selection

NAME = "catalogsource"
RETRY_WITHIN_SECONDS = 10.0

PODS = Selection(objects.POD, labels=LABEL_CATALOG)
CONFIG_MAPS = Selection(objects.CONFIG_MAP, labels=LABEL_MANAGED, metadata_only=True)
NAMESPACES = Selection(objects.NAMESPACE, metadata_only=True)


_WHOLE = frozenset({objects.ACCOUNT, objects.ENDPOINT_SLICE})
"""Kinds of which somebody looks at more than metadata."""


def _owned(kind: GVK) -> Selection:
    if kind == objects.SERVICE:
        return Selection(kind, labels=LABEL_SERVICE_HASH, metadata_only=True)
    return Selection(kind, labels=f"{LABEL_MANAGED}=true", metadata_only=kind not in _WHOLE)


OWNED: Mapping[GVK, Selection] = {kind: _owned(kind) for kind in objects.OWNED}


async def _ignore(_: Key) -> None:
    pass


def _unheard(_: Key) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Who is notified of catalogs.

    on_ready  a connection to its server stands: content may be new
    on_gone   awaited when it exists no more
    """

    on_ready: Callable[[Key], None] = _unheard
    on_gone: Callable[[Key], Awaitable[None]] = _ignore


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSettings:
    """How images are served by this process.

    address   of this host: the one that others reach it at, or a loopback
    ports     that catalogs are served at
    folder    for content
    pulls     how registries are reached, asked for at each pull
    catalogd  of OLM v1, whose content is taken; None for none
    """

    address: str
    ports: Sequence[int]
    folder: Path
    pulls: Callable[[], Awaitable[PullSettings]]
    catalogd: Catalogd | None = None

    @property
    def bound(self) -> str:
        """The host to listen at."""
        return self.dialled if self._is_loopback else "[::]"

    @property
    def dialled(self) -> str:
        """The host as this process connects to it."""
        if not self._is_loopback:
            return "127.0.0.1"
        return f"[{self.address}]" if ":" in self.address else self.address

    @property
    def advertised(self) -> str:
        """The address for EndpointSlices, which may have no loopback; empty for one."""
        return "" if self._is_loopback else self.address

    @property
    def _is_loopback(self) -> bool:
        return ip_address(self.address).is_loopback


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
        shared: SharedSettings | None = None,
    ) -> None:
        """`proxies` are those for registries of catalogs; with `shared` images are served here."""
        self._manager = manager
        self._clock = clock
        self._listeners = listeners
        self._catalogs = manager.store(CATALOG_SOURCE)
        self.connections = Connections(self._connection_changed, clock=clock, proxies=proxies)
        owned = OwnedObjects(
            manager.client,
            {kind: manager.selected(each) for kind, each in OWNED.items()},
            exact=frozenset({objects.NETWORK_POLICY}),
        )
        self._shared = self._sharing(shared, owned) if shared is not None else None
        self._steps = CatalogSourceSteps(
            client=manager.client,
            pods=CatalogPods(manager.client, manager.selected(PODS)),
            config_maps=CatalogConfigMaps(manager.client, manager.selected(CONFIG_MAPS)),
            namespaces=manager.selected(NAMESPACES),
            owned=owned,
            connections=self.connections,
            version=ServerVersion(manager.client),
            settings=settings,
            clock=clock,
            shared=self._shared,
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

    async def collect(self) -> None:
        """Removes the content of catalogs that do not exist; for the start.

        Raises ApiError, DiskError.
        """
        if self._shared is not None:
            found = await existing(self._manager.client, CATALOG_SOURCE)
            await self._shared.serving.collect(map(namespaced_name, found))

    async def close(self) -> None:
        """Ends all connections, and serves nothing any more."""
        await self.connections.close()
        if self._shared is not None:
            await self._shared.serving.close()

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

    def _sharing(self, settings: SharedSettings, owned: OwnedObjects) -> SharedCatalogs:
        ports = Ports(settings.bound, settings.ports)
        pulls = Pulls(
            client=self._manager.client,
            cache_dir=settings.folder,
            settings=settings.pulls,
            catalogd=settings.catalogd,
        )
        return SharedCatalogs(
            serving=SharedServing(pulls, ports, self._enqueue, clock=self._clock),
            owned=owned,
            advertised=settings.advertised,
            dialled=settings.dialled,
        )

    def _enqueue(self, key: Key) -> None:
        self._manager.enqueue(NAME, request_for(key[1], key[0]))

    def _connection_changed(self, key: Key) -> None:
        connection = self.connections.get(key)
        if connection is not None and connection.state is ConnectionState.READY:
            self._listeners.on_ready(key)
        self._enqueue(key)

    async def _gone(self, request: Request) -> None:
        key = namespaced_name(request)
        await self.connections.drop(key)
        self._steps.failed_polls.pop(key, None)
        if self._shared is not None:
            await self._shared.serving.remove(key)
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
