"""The controller of ClusterCatalogs, for the replica that leads.

Level-triggered: every run reads the object and what is on disk anew, so it may be killed between
any two lines.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from api import wire
from api.objects import KubeObject
from api.olm.v1.clustercatalog import ClusterCatalog, ClusterCatalogStatus
from api.olm.v1.kinds import CATALOG
from api.olm.v1.names import FINALIZER_DELETE_SERVER_CACHE
from catalogd import status
from catalogd.io.cluster import Cluster, read_catalog
from catalogd.io.images import Images
from catalogd.io.store import Store
from catalogd.plan import is_available, is_wanted, needs_ingest, poll_delay, protection
from catalogd.refresh import Asked, last_answer, open_request
from catalogd.transitions import transitions
from olm_catalogs.stored import Stored
from olm_runtime.controller.reconciler import Controller, Finalized, Status, Stop
from olm_runtime.controller.status_writer import read_status
from olm_runtime.event import Happening
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a catalog; `stored` is its content on disk, which is served."""

    catalog: ClusterCatalog
    stored: Stored | None = None

    @property
    def name(self) -> str:
        """The catalog's name."""
        return self.catalog.metadata.name

    @property
    def content(self) -> Stored:
        """What `ingest` found on disk or fetched."""
        if self.stored is None:
            raise RuntimeError("no step before this one fetched the content")
        return self.stored


@dataclass(frozen=True, slots=True)
class CatalogSteps:
    """What is done for a catalog.

    `steady` gives seconds since the epoch by a clock that never goes back: polls wait by it.
    `asked` has, by name, when registries were last asked because of a request.
    """

    cluster: Cluster
    store: Store
    images: Images
    base_url: str
    steady: Callable[[], float]
    jitter: Callable[[], float]
    asked: dict[str, Asked] = field(default_factory=dict)

    def controller(self) -> Controller[Context]:
        """The controller that they make."""
        return Controller(
            kind=CATALOG,
            finalizers=(FINALIZER_DELETE_SERVER_CACHE,),
            prepare=lambda obj: protection(read_catalog(obj)),
            begin=lambda obj: Context(read_catalog(obj)),
            steps=(self.load, self.rest, self.ingest),
            conclude=self.poll,
            status=self.status,
            afterwards=(self.release,),
            finalize=self.finalize,
            gone=self.forget,
            events=events,
            attributes=lambda context: {"olm.catalog": context.name},
        )

    async def load(self, context: Context) -> Context:
        """Serves what is on disk, or nothing any more."""
        if is_wanted(context.catalog):
            return replace(context, stored=await self.store.load(context.name))
        await self.store.withdraw(context.name)
        return context

    async def rest(self, context: Context) -> Context | Stop:
        """Leaves a registry alone that was asked because of a request a moment ago."""
        catalog, now = context.catalog, self.steady()
        last = self.asked.get(context.name)
        if not is_wanted(catalog) or not open_request(catalog) or last is None:
            return context
        seconds = last.rest(catalog, now)
        if not seconds:
            return context
        failed = last_answer(catalog)
        return Stop(Retry(failed.message, after=seconds) if failed else Wait(seconds))

    async def ingest(self, context: Context) -> Context:
        """Asks the registry and fetches what is new, when it is time to or somebody wants it."""
        catalog, request = context.catalog, open_request(context.catalog)
        due = request or needs_ingest(catalog, context.stored, self.steady())
        if not is_wanted(catalog) or not due:
            return context
        if request:
            metadata = catalog.metadata
            self.asked[context.name] = Asked(metadata.uid, metadata.generation, self.steady())
        reference = catalog.spec.source.image.ref
        fetched = await self.images.fetch(context.name, reference, context.stored)
        stored = Stored(
            version=fetched.version,
            source=fetched.source,
            requested=reference,
            uid=catalog.metadata.uid,
            generation=catalog.metadata.generation,
            unpacked=fetched.unpacked,
            polled=self.steady(),
        )
        await self.store.commit(context.name, stored)
        return replace(context, stored=stored)

    async def poll(self, context: Context, outcome: Outcome) -> Outcome:
        """Comes back for the next poll."""
        if not isinstance(outcome, Done) or not is_wanted(context.catalog):
            return outcome
        now, jitter = self.steady(), self.jitter()
        return Done(poll_delay(context.catalog, context.content, now=now, jitter=jitter))

    def status(self, context: Context, outcome: Outcome, now: datetime) -> Status:
        """The status, however the steps ended."""
        catalog, url = context.catalog, self.base_url
        if isinstance(outcome, Done) and not is_wanted(catalog):
            return wire.write(status.disabled(catalog, now=now))
        if isinstance(outcome, Done):
            return wire.write(status.served(catalog, context.content, base_url=url, now=now))
        failure = status.Failure(outcome.message, blocked=isinstance(outcome, Blocked))
        return wire.write(status.failed(catalog, failure, context.stored, base_url=url, now=now))

    async def release(self, context: Context) -> Context:
        """Takes our finalizer off a catalog that has no content here by its user's will."""
        if not is_wanted(context.catalog):
            await self.cluster.release(context.name)
        return context

    async def forget(self, name: str) -> None:
        """The catalog is gone."""
        self.asked.pop(name, None)
        await self.store.withdraw(name)

    async def finalize(self, obj: KubeObject, now: datetime) -> Finalized:
        """Content first, finalizer last: what the finalizer guards is gone when it goes."""
        catalog = read_catalog(obj)
        await self.store.withdraw(catalog.metadata.name)
        ending = status.deleted if is_available(catalog) else status.disabled
        return Finalized(status=wire.write(ending(catalog, now=now)))


def events(before: KubeObject, now: Status, _: Context | None) -> Iterable[Happening]:
    """What people read of a status that was written."""
    old, new = (read_status(ClusterCatalogStatus, each) for each in (before.get("status"), now))
    return transitions(old, new)
