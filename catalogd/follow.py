"""What a replica does that does not lead: serve what the leader resolved, and write nothing."""

from api.v1.clustercatalog import ClusterCatalog
from catalogd.plan import is_wanted
from catalogd.reconcile import ClusterPort, ImagesPort, StorePort
from catalogd.stored import Stored
from olm_shared.image_ref import named_as
from olm_shared.outcome import Done, Outcome


class CatalogFollower:
    """Brings the content of one catalog at a time to the digest in its status."""

    def __init__(
        self,
        cluster: ClusterPort,
        store: StorePort,
        images: ImagesPort,
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._images = images

    async def __call__(self, name: str) -> Outcome:
        """One run. Raises OLMError; the content that is there stays until there is newer."""
        catalog = await self._cluster.find(name)
        if catalog is None or not is_wanted(catalog):
            await self._store.withdraw(name)
            return Done()
        resolved = catalog.status.resolved_source
        stored = await self._store.load(name)
        if resolved is not None and (stored is None or stored.source != resolved.image.ref):
            await self._fetch(catalog, resolved.image.ref, stored)
        return Done()

    async def _fetch(self, catalog: ClusterCatalog, source: str, known: Stored | None) -> None:
        metadata = catalog.metadata
        reference = named_as(source, catalog.spec.source.image.ref)
        fetched = await self._images.fetch(metadata.name, reference, known)
        stored = Stored(
            version=fetched.version,
            source=fetched.source,
            requested=catalog.spec.source.image.ref,
            uid=metadata.uid,
            generation=metadata.generation,
            unpacked=fetched.unpacked,
            polled=0.0,
        )
        await self._store.commit(metadata.name, stored)
