"""What a replica does that does not lead: serve what the leader resolved, and write nothing."""

from dataclasses import replace

from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.conditions import ConditionType, Reason
from catalogd.io.cluster import Cluster
from catalogd.io.images import Images
from catalogd.io.store import Store
from catalogd.plan import is_wanted
from olm_catalogs.stored import Stored
from olm_runtime.controller.requests import Request
from olm_runtime.images.reference import named_as
from olm_runtime.outcome import Done, Failed, Outcome


class CatalogFollower:
    """Brings the content of catalogs to the digest in their status."""

    def __init__(self, cluster: Cluster, store: Store, images: Images) -> None:
        self._cluster = cluster
        self._store = store
        self._images = images

    async def reconcile(self, name: Request) -> Outcome:
        """One reconcile. Raises OLMError; the content that is there stays until there is newer."""
        catalog = await self._cluster.find(name)
        if catalog is None or not is_wanted(catalog):
            await self._store.withdraw(name)
            return Done()
        stored = await self._store.load(name)
        resolved = catalog.status.resolved_source
        if resolved is not None:
            if stored is None or stored.source != resolved.image.ref:
                stored = await self._fetch(catalog, resolved.image.ref, stored)
            await self._store.commit(name, as_resolved(catalog, stored))
        return Done()

    async def report_failure(self, name: Request, failed: Failed) -> None:
        """Only the leader writes statuses."""

    async def _fetch(self, catalog: ClusterCatalog, source: str, known: Stored | None) -> Stored:
        """The content of a source, on disk: not known to be what the specification asks for."""
        reference = named_as(source, catalog.spec.source.image.ref)
        fetched = await self._images.fetch(catalog.metadata.name, reference, known)
        return Stored(
            version=fetched.version,
            source=fetched.source,
            requested="",
            uid="",
            generation=0,
            unpacked=fetched.unpacked,
            polled=0.0,
        )


def as_resolved(catalog: ClusterCatalog, stored: Stored) -> Stored:
    """The record of content that is of the source in the status, as the leader keeps it.

    It was asked for by the specification only if the status says so of this very generation: the
    leader may not have seen the newest one when it resolved, or ended before it could.
    """
    unpacked = catalog.status.last_unpacked
    if unpacked is not None:
        stored = replace(stored, unpacked=int(unpacked.timestamp()))
    if not _is_up_to_date(catalog):
        return stored
    return stored.confirmed(catalog.metadata, catalog.spec.source.image.ref, stored.polled)


def _is_up_to_date(catalog: ClusterCatalog) -> bool:
    """Whether the leader found that its status is what the specification asks for."""
    return any(
        condition.type == ConditionType.PROGRESSING
        and condition.reason == Reason.SUCCEEDED
        and condition.observed_generation == catalog.metadata.generation
        for condition in catalog.status.conditions
    )
