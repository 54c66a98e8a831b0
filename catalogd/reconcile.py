"""The story of a ClusterCatalog: state, plan, act, status.

Level-triggered: every run reads the object and what is on disk anew, so it may be killed between
any two lines. The status is written once, by the step that ends the run, and only if it changed.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol, assert_never

from api.olm.v1.clustercatalog import ClusterCatalog, ClusterCatalogStatus
from catalogd import status
from catalogd.io.images import Fetched
from catalogd.plan import Action, decide, is_wanted, poll_delay, protection, release
from catalogd.stored import Stored
from catalogd.transitions import transitions
from olm_runtime.controller.attempt import attempt
from olm_runtime.event import Happening
from olm_runtime.outcome import Blocked, Done, Failed, Outcome, Retry

log = logging.getLogger(__name__)


class ClusterPort(Protocol):
    """What the story needs of the API server."""

    async def find(self, name: str) -> ClusterCatalog | None:
        """One catalog, None if it is gone."""

    async def patch_metadata(
        self, catalog: ClusterCatalog, patch: dict[str, object]
    ) -> ClusterCatalog:
        """Merges into the metadata of the version that was read; the catalog as it is then."""

    async def write_status(self, catalog: ClusterCatalog, status: ClusterCatalogStatus) -> None:
        """Replaces the status of the version that was read, if it differs."""

    async def tell_failure(self, name: str, failed: Failed, now: datetime) -> None:
        """Says in the status why nothing else can be said there."""

    async def announce(self, catalog: ClusterCatalog, changes: Sequence[Happening]) -> None:
        """Tells people what changed; never fails."""

    def forget(self, name: str) -> None:
        """The catalog is gone."""


class StorePort(Protocol):
    """What it needs of the disk."""

    async def load(self, name: str) -> Stored | None:
        """What is stored and served."""

    async def commit(self, name: str, stored: Stored) -> None:
        """Serves a version from now on."""

    async def withdraw(self, name: str) -> None:
        """Removes a catalog's content."""


class ImagesPort(Protocol):
    """What it needs of registries."""

    async def fetch(self, name: str, reference: str, known: Stored | None) -> Fetched:
        """Content of a reference, on disk."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is the same for all catalogs.

    Both clocks give seconds since the epoch: `clock` those of conditions, `steady` those by which
    polls wait, which never go back.
    """

    base_url: str
    clock: Callable[[], float]
    steady: Callable[[], float]
    jitter: Callable[[], float]

    def now(self) -> datetime:
        """The time as conditions carry it: whole seconds."""
        return datetime.fromtimestamp(int(self.clock()), UTC)


@dataclass(frozen=True, slots=True)
class State:
    """Everything a run looks at."""

    name: str
    catalog: ClusterCatalog
    stored: Stored | None


class CatalogReconciler:
    """Brings one catalog at a time to what its specification says."""

    def __init__(
        self,
        cluster: ClusterPort,
        store: StorePort,
        images: ImagesPort,
        surroundings: Surroundings,
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._images = images
        self._around = surroundings

    async def __call__(self, name: str) -> Outcome:
        """One run. Raises OLMError only for failures of the API server itself."""
        catalog = await self._cluster.find(name)
        # Loading serves, so what is not to be served is not even looked at.
        stored = await self._store.load(name) if catalog and is_wanted(catalog) else None
        action = decide(catalog, stored, self._around.steady())
        log.debug("catalog %s: %s", name, action.name.lower())
        if catalog is None:
            return await self._forget(name)
        return await self._act(action, State(name, catalog, stored))

    async def tell_failure(self, name: str, failed: Failed) -> None:
        """Says in the status why a run ended before it could say anything itself."""
        await self._cluster.tell_failure(name, failed, self._around.now())

    async def _act(self, action: Action, state: State) -> Outcome:
        match action:
            case Action.FORGET:
                return await self._forget(state.name)
            case Action.RELEASE:
                return await self._end(state, status.deleted(state.catalog, now=self._around.now()))
            case Action.DISABLE:
                return await self._end(
                    state, status.disabled(state.catalog, now=self._around.now())
                )
            case Action.IGNORE:
                return Done()
            case Action.INGEST:
                return await self._ingest(await self._protected(state))
            case Action.KEEP:
                return await self._keep(await self._protected(state))
            case _:
                assert_never(action)

    async def _forget(self, name: str) -> Outcome:
        await self._store.withdraw(name)
        self._cluster.forget(name)
        return Done()

    async def _end(self, state: State, ending: ClusterCatalogStatus) -> Outcome:
        """Content first, finalizer last: what the finalizer guards is gone when it goes."""
        await self._store.withdraw(state.name)
        await self._write(state.catalog, ending)
        patch = release(state.catalog)
        if patch:
            current = await self._cluster.find(state.name)
            if current is not None:
                await self._cluster.patch_metadata(current, release(current))
        return Done()

    async def _protected(self, state: State) -> State:
        """The catalog with our finalizer, before there is anything on disk that it guards."""
        patch = protection(state.catalog)
        if not patch:
            return state
        return replace(state, catalog=await self._cluster.patch_metadata(state.catalog, patch))

    async def _ingest(self, state: State) -> Outcome:
        stored = await attempt(self._fetch(state), f"ingest of catalog {state.name}")
        if not isinstance(stored, Stored):
            return await self._failed(state, stored)
        return await self._keep(State(state.name, state.catalog, stored))

    async def _fetch(self, state: State) -> Stored:
        metadata, reference = state.catalog.metadata, state.catalog.spec.source.image.ref
        fetched = await self._images.fetch(state.name, reference, state.stored)
        stored = Stored(
            version=fetched.version,
            source=fetched.source,
            requested=reference,
            uid=metadata.uid,
            generation=metadata.generation,
            unpacked=fetched.unpacked,
            polled=self._around.steady(),
        )
        await self._store.commit(state.name, stored)
        return stored

    async def _keep(self, state: State) -> Outcome:
        if state.stored is None:
            return Retry(f"content of catalog {state.name} is gone")
        wanted = status.served(
            state.catalog,
            state.stored,
            base_url=self._around.base_url,
            now=self._around.now(),
        )
        await self._write(state.catalog, wanted)
        delay = poll_delay(
            state.catalog,
            state.stored,
            now=self._around.steady(),
            jitter=self._around.jitter(),
        )
        return Done(requeue_after=delay)

    async def _write(self, catalog: ClusterCatalog, wanted: ClusterCatalogStatus) -> None:
        """Told only after it is written: what the status does not say has not happened."""
        await self._cluster.write_status(catalog, wanted)
        if changes := transitions(catalog.status, wanted):
            await self._cluster.announce(catalog, changes)

    async def _failed(self, state: State, outcome: Failed) -> Outcome:
        wanted = status.failed(
            state.catalog,
            status.Failure(outcome.message, blocked=isinstance(outcome, Blocked)),
            state.stored,
            base_url=self._around.base_url,
            now=self._around.now(),
        )
        await self._write(state.catalog, wanted)
        return outcome
