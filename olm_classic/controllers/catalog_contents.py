"""Keeps what the resolver knows of each catalog as the catalog's server has it."""

import asyncio
from collections.abc import Callable, Iterable

from api.objects import KubeObject, name_of, namespace_of
from api.operators.v1alpha1.subscription import Subscription
from olm_classic.io.registry import Connections, ConnectionState, Key, RegistryConnection
from olm_classic.io.snapshots import Snapshots, no_connection
from olm_classic.metrics import Metrics
from olm_classic.resolve import Catalog, Deprecations, SourceKey
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.errors import WaitingError
from olm_runtime.outcome import Done, Failed, Outcome
from olm_runtime.watch.store import Store

PATIENCE_SECONDS = 30.0
"""For a catalog that is new to this process, until its connection is made."""
LOOK_SECONDS = 0.5


class CatalogContents:
    """Takes in the content of a catalog whenever its connection becomes ready.

    Requests are the NAMESPACE/NAME of catalogs.
    """

    def __init__(
        self,
        sources: Store[KubeObject],
        connections: Connections,
        snapshots: Snapshots,
        changed: Callable[[Key], None],
        metrics: Metrics,
    ) -> None:
        """`sources` are the CatalogSources; `changed` is called with each content taken in."""
        self._metrics = metrics
        self._sources = sources
        self._connections = connections
        self._snapshots = snapshots
        self._changed = changed
        self._addresses: dict[SourceKey, str] = {}
        self._problems: dict[SourceKey, str] = {}
        self._deprecated: dict[SourceKey, dict[str, Deprecations]] = {}
        self._first_seen: dict[SourceKey, float] = {}

    async def reconcile(self, request: Request) -> Outcome:
        """Takes in the content of one catalog. Raises RegistryError, SnapshotError."""
        namespace, name = namespaced_name(request)
        key = SourceKey(name, namespace)
        if self._sources.get(name, namespace) is None:
            self._forget(key)
        elif (connection := self._ready(key)) is not None:
            await self._snapshots.refresh(key, connection)
            self._addresses[key] = connection.target.address
            self._problems.pop(key, None)
            self._deprecated.pop(key, None)
            self._metrics.snapshots[namespace, name] += 1
        self._changed((namespace, name))
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """Keeps what went wrong for those who resolve with the catalog."""
        namespace, name = namespaced_name(request)
        self._problems[SourceKey(name, namespace)] = f"failed to list bundles: {failed.message}"
        self._changed((namespace, name))

    def catalogs(self, sources: Iterable[KubeObject]) -> tuple[Catalog, ...]:
        """These CatalogSources for the resolver; one that cannot be asked has a problem.

        Raises WaitingError while one may yet become ready that this process has just met.
        """
        return tuple(self._catalog(source) for source in sources)

    def _catalog(self, source: KubeObject) -> Catalog:
        key = SourceKey(name_of(source), namespace_of(source))
        priority = int(source["spec"].get("priority") or 0)
        if self.is_known(key):
            return self._snapshots.catalog(key, priority)
        problem = self._problems.get(key, "")
        if not problem and self._is_about_to_be_ready(key):
            raise WaitingError(
                f"catalogsource {key.namespace}/{key.name} is being connected to",
                seconds=LOOK_SECONDS,
            )
        return Catalog(key, priority, problem=problem or no_connection(key))

    def deprecations(self, subscriptions: Iterable[Subscription]) -> dict[str, Deprecations]:
        """What is deprecated of their packages, by the name of the Subscription.

        Of those whose catalog is known, and that have something installed.
        """
        found = {}
        for each in subscriptions:
            key = SourceKey(each.spec.source, each.spec.source_namespace)
            if each.status.installed_csv and self.is_known(key):
                found[each.metadata.name] = self._deprecations(key, each.spec.name)
        return found

    def _deprecations(self, key: SourceKey, package: str) -> Deprecations:
        """Asked again and again: remembered until there is other content."""
        known = self._deprecated.setdefault(key, {})
        if package not in known:
            reader = self._snapshots.reader(key)
            known[package] = reader.deprecations(package) if reader else Deprecations()
            if reader:
                reader.close()
        return known[package]

    def is_known(self, key: SourceKey) -> bool:
        """Whether there is content, and it is that of the address that the catalog has now.

        A server that is away for a while does not take back what it said.
        """
        connection = self._connections.get((key.namespace, key.name))
        if connection is None:
            return False
        return self._addresses.get(key) == connection.target.address

    def _is_about_to_be_ready(self, key: SourceKey) -> bool:
        now = asyncio.get_running_loop().time()
        waited = now - self._first_seen.setdefault(key, now)
        connection = self._connections.get((key.namespace, key.name))
        return is_worth_waiting_for(connection.state if connection else None, waited)

    def _ready(self, key: SourceKey) -> RegistryConnection | None:
        connection = self._connections.get((key.namespace, key.name))
        ready = connection is not None and connection.state == ConnectionState.READY
        return connection if ready else None

    def _forget(self, key: SourceKey) -> None:
        self._snapshots.forget(key)
        for known in (self._addresses, self._problems, self._deprecated, self._first_seen):
            known.pop(key, None)


def is_worth_waiting_for(state: ConnectionState | None, waited: float) -> bool:
    """Whether a catalog without content, of which nothing bad is known, may have some soon.

    One that is connected to is being read, however long that takes on a busy machine: an error
    ends it. `state` is None while there is no connection yet.
    """
    if state is ConnectionState.READY:
        return True
    return state is not ConnectionState.TRANSIENT_FAILURE and waited <= PATIENCE_SECONDS
