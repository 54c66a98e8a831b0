"""How a ClusterServiceVersion ends: what it leaves outside its namespace goes before it.

What is in its namespace is collected by its owner references.
"""

from dataclasses import dataclass

from api.objects import GVK, KubeObject, finalizers_of, metadata, name_of, namespace_of
from api.operators.names import LABEL_OWNER_NAMESPACE
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.csv.owner import owner_of
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.selections import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, OF_CSVS
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Outcome, Wait
from olm_runtime.watch.store import Store

FINALIZER = "operators.coreos.com/csv-cleanup"
LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Removal:
    """Cleans up after ClusterServiceVersions that are being deleted."""

    client: KubeClient
    stores: CsvStores
    owned: OwnedApis

    async def finish(self, csv: KubeObject) -> Outcome:
        """Has one go, as soon as its cluster-wide rights are gone. Raises ApiError."""
        if FINALIZER not in finalizers_of(csv):
            return Done()
        replacement = self.stores.chain_of(csv).replacement(csv)
        await self.owned.retire(csv, replaced=replacement is not None)
        rights = self.stores.rights
        for gvk, store in (
            (CLUSTER_ROLE_BINDINGS.gvk, rights.cluster_bindings),
            (CLUSTER_ROLES.gvk, rights.cluster_roles),
        ):
            if await self._delete(csv, gvk, store):
                return Wait(LOOK_SECONDS, f"waiting for {gvk.kind}s to delete")
        remaining = [each for each in finalizers_of(csv) if each != FINALIZER]
        await self._release(csv, remaining)
        return Done()

    async def _delete(self, csv: KubeObject, gvk: GVK, store: Store[KubeObject]) -> bool:
        """Deletes the objects of one kind; whether some are held up.

        The server is asked for them: a store may not know yet what was made a moment ago.
        """
        namespace, name = namespace_of(csv), name_of(csv)
        found, _ = await self.client.list_all(
            gvk, labels=f"{OF_CSVS},{LABEL_OWNER_NAMESPACE}={namespace}", metadata_only=True
        )
        held = False
        for each in (obj for obj in found if (namespace, name) in owner_of(obj)):
            if await self.client.delete(each, uid=str(metadata(each)["uid"])) is None:
                store.delete(each)
            else:
                held = True
        return held

    async def _release(self, csv: KubeObject, finalizers: list[str]) -> None:
        version = metadata(csv)["resourceVersion"]
        patch = {"metadata": {"finalizers": finalizers, "resourceVersion": version}}
        try:
            patched = await self.client.patch(csv, patch)
        except NotFoundError:
            patched = csv
        (self.stores.csvs.update if finalizers else self.stores.csvs.delete)(patched)
