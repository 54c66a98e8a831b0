"""How a ClusterServiceVersion ends: what it leaves outside its namespace goes before it.

What is in its namespace is collected by its owner references.
"""

from dataclasses import dataclass

from api.objects import KubeObject, finalizers_of, metadata, name_of, namespace_of
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.io.account_rights import OWNER
from olm_classic.io.owned_apis import OwnedApis
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
        for what, store in (
            ("ClusterRoleBindings", rights.cluster_bindings),
            ("ClusterRoles", rights.cluster_roles),
        ):
            if await self._delete(csv, store):
                return Wait(LOOK_SECONDS, f"waiting for {what} to delete")
        remaining = [each for each in finalizers_of(csv) if each != FINALIZER]
        await self._release(csv, remaining)
        return Done()

    async def _delete(self, csv: KubeObject, store: Store[KubeObject]) -> bool:
        """Deletes the objects of one kind; whether some are held up."""
        held = False
        for each in store.by_index(OWNER, (namespace_of(csv), name_of(csv))):
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
