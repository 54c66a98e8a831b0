"""How a CatalogSource with an image is served by this process rather than by a pod."""

import logging
from dataclasses import dataclass

from api.objects import KubeObject, key_of, name_of
from api.operators.v1alpha1.catalogsource import CatalogSource
from olm_classic.catalog_sources import objects, polling
from olm_classic.catalog_sources.labels import is_owned, service_address, service_name
from olm_classic.io.owned_objects import OwnedObjects
from olm_classic.io.registry import Key, Target
from olm_classic.io.shared_serving import Shared, SharedServing, Wanted
from olm_runtime.controller.manager import NAMESPACE

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCatalogs:
    """Serves catalogs here, and has their Services lead here.

    advertised  address of this host for others; empty where it has none that an EndpointSlice may
                have, as outside a cluster
    dialled     its address for this process
    """

    serving: SharedServing
    owned: OwnedObjects
    advertised: str
    dialled: str

    async def ensure(self, source: CatalogSource, raw: KubeObject) -> tuple[Shared, Target | None]:
        """Serves a catalog; how it is served, and where it is connected to once it is.

        Raises OLMError, NotSyncedError.
        """
        key = source.metadata.namespace, source.metadata.name
        shared = await self.serving.ensure(_wanted(source, key), port=self._port(key))
        wanted = objects.shared_objects(source, raw, self.advertised, shared.port)
        for obj in wanted:
            await self.owned.ensure(obj)
        await self._remove_others(raw, wanted)
        if not shared.port:
            return shared, None
        dialled = f"{self.dialled}:{shared.port}"
        return shared, Target(service_address(*key), dialled, shared.content)

    def _port(self, key: Key) -> int:
        """Where its Service leads already; 0 for nowhere."""
        name = service_name(key[1])
        found = self.owned.find(objects.ENDPOINT_SLICE, name, key[0]) or {}
        ports = [each.get("port") for each in found.get("ports") or ()]
        return int(ports[0] or 0) if ports else 0

    async def _remove_others(self, raw: KubeObject, wanted: list[KubeObject]) -> None:
        """Removes what stood around a pod that served it before. Raises ApiError."""
        needed = {key_of(obj) for obj in wanted}
        for kind, store in self.owned.stores.items():
            for obj in store.by_index(NAMESPACE, raw["metadata"]["namespace"]):
                if is_owned(obj, raw) and key_of(obj) not in needed:
                    log.info("%s %s is not needed any more", kind.kind, name_of(obj))
                    await self.owned.remove(obj)


def _wanted(source: CatalogSource, key: Key) -> Wanted:
    spec = source.spec
    pod = spec.grpc_pod_config
    interval = polling.interval_of(spec)
    return Wanted(
        key=key,
        uid=source.metadata.uid,
        image=spec.image,
        root=pod.extract_content.catalog_dir if pod and pod.extract_content else "",
        secrets=spec.secrets,
        every=interval.every.total_seconds() if interval else None,
    )
