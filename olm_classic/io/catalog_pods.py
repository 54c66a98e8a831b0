"""The pods of catalogs: found in a store, made and removed at the server."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from api.objects import KubeObject, labels_of, metadata, name_of, namespace_of
from olm_classic.catalog_sources.labels import LABEL_CATALOG, LABEL_UPDATE, is_owned
from olm_classic.catalog_sources.observed import is_going
from olm_classic.names import FIELD_MANAGER
from olm_runtime.controller.manager import NAMESPACE
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CatalogPods:
    """`store` has the pods that any catalog serves with."""

    client: KubeClient
    store: Store[KubeObject]

    def serving(self, catalog: KubeObject) -> list[KubeObject]:
        """The pods that get a catalog's requests. Raises NotSyncedError."""
        return self._labelled(catalog, LABEL_CATALOG)

    def updates(self, catalog: KubeObject) -> list[KubeObject]:
        """The pods that look for newer content. Raises NotSyncedError."""
        return self._labelled(catalog, LABEL_UPDATE)

    async def create(self, pod: KubeObject) -> KubeObject:
        """Raises ApiError."""
        created: KubeObject = await self.client.create(pod, field_manager=FIELD_MANAGER)
        self.store.update(created)
        return created

    async def delete(self, pods: Iterable[KubeObject]) -> None:
        """Deletes pods that do not go already. Raises ApiError."""
        for pod in pods:
            if is_going(pod):
                continue
            if await self.client.delete(pod, uid=metadata(pod)["uid"]) is None:
                self.store.delete(pod)

    async def promote(self, new: KubeObject, old: KubeObject) -> KubeObject:
        """Has the pod of an update get the requests, then removes the one that did.

        Killed in between there are two that serve, of which the newer stays. Raises ApiError.
        """
        catalog = labels_of(new)[LABEL_UPDATE]
        labels = {LABEL_CATALOG: catalog, LABEL_UPDATE: ""}
        meta = {"uid": metadata(new)["uid"], "labels": labels}
        promoted: KubeObject = await self.client.patch(
            new, {"metadata": meta}, field_manager=FIELD_MANAGER
        )
        self.store.update(promoted)
        log.info("catalog %s/%s: new content in %s", namespace_of(new), catalog, name_of(new))
        await self.delete([old])
        return promoted

    def _labelled(self, catalog: KubeObject, label: str) -> list[KubeObject]:
        self.store.check_synced()
        found = self.store.by_index(NAMESPACE, namespace_of(catalog))
        return [
            pod
            for pod in found
            if labels_of(pod).get(label) == name_of(catalog) and is_owned(pod, catalog)
        ]
