"""ConfigMaps that catalogs are made of: of users, and known to our watch by a label."""

from api.objects import KubeObject, labels_of, metadata
from olm_classic.catalog_sources import objects
from olm_classic.catalog_sources.labels import owner_reference
from olm_classic.names import FIELD_MANAGER, LABEL_MANAGED
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store


class CatalogConfigMaps:
    """Adopts them for CatalogSources."""

    def __init__(self, client: KubeClient, store: Store[KubeObject]) -> None:
        """`store` has the metadata of those with the label."""
        self._client = client
        self._store = store

    async def adopted(self, catalog: KubeObject, name: str, namespace: str) -> KubeObject:
        """The metadata of a ConfigMap, labelled and owned. Raises ApiError, NotSyncedError."""
        self._store.check_synced()
        found = self._store.get(name, namespace)
        if found is None:
            found = await self._client.get(objects.CONFIG_MAP, name, namespace, metadata_only=True)
        owners = metadata(found).get("ownerReferences") or []
        reference = owner_reference(catalog, controller=False)
        is_owned = any(each["uid"] == reference["uid"] for each in owners)
        if is_owned and LABEL_MANAGED in labels_of(found):
            return found
        meta = {
            "resourceVersion": metadata(found)["resourceVersion"],
            "labels": {LABEL_MANAGED: labels_of(found).get(LABEL_MANAGED, "false")},
            "ownerReferences": owners if is_owned else [*owners, reference],
        }
        adopted: KubeObject = await self._client.patch(
            found, {"metadata": meta}, field_manager=FIELD_MANAGER, metadata_only=True
        )
        adopted |= {"apiVersion": objects.CONFIG_MAP.api_version, "kind": objects.CONFIG_MAP.kind}
        self._store.update(adopted)
        return adopted
