"""Writes Roles, ClusterRoles and bindings, where they are not already as they are to be."""

from collections.abc import Mapping
from dataclasses import dataclass

from api.objects import GVK, KubeObject, gvk_of, labels_of, metadata, name_of, namespace_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store


@dataclass(frozen=True, slots=True)
class Roles:
    """Objects of kinds of which stores have all that there are, whole."""

    client: KubeClient
    stores: Mapping[GVK, Store[KubeObject]]
    field_manager: str

    def check_synced(self) -> None:
        """Raises NotSyncedError until it is known what there is."""
        for store in self.stores.values():
            store.check_synced()

    def find(self, obj: KubeObject) -> KubeObject | None:
        """The object of the same kind and name, if there is one."""
        return self.stores[gvk_of(obj)].get(name_of(obj), namespace_of(obj))

    async def ensure(self, obj: KubeObject) -> None:
        """Has an object be as wanted. Raises ApiError."""
        found = self.find(obj)
        if found is None or not is_as_wanted(obj, found):
            applied = await self.client.apply(obj, field_manager=self.field_manager)
            self.stores[gvk_of(obj)].update(applied)

    async def ensure_there(self, obj: KubeObject) -> None:
        """Has an object, and leaves it as it is if there is one of its name. Raises ApiError."""
        if self.find(obj) is None:
            await self.ensure(obj)

    async def remove(self, obj: KubeObject) -> None:
        """Deletes an object, if it is the one that was seen. Raises ApiError."""
        left = await self.client.delete(obj, uid=str(metadata(obj)["uid"]))
        if left is None:
            self.stores[gvk_of(obj)].delete(obj)


def is_as_wanted(wanted: KubeObject, found: KubeObject) -> bool:
    """Whether an object says all that is wanted; it may have more labels and owners.

    One that is aggregated has the rules that are given to it, and is judged by what it aggregates.
    """
    owners = {each["uid"] for each in metadata(found).get("ownerReferences") or ()}
    references = metadata(wanted).get("ownerReferences") or ()
    content = {key for key in wanted if key not in ("apiVersion", "kind", "metadata")}
    return (
        labels_of(wanted).items() <= labels_of(found).items()
        and all(each["uid"] in owners for each in references)
        and wanted.get("aggregationRule") == found.get("aggregationRule")
        and all((wanted[key] or None) == (found.get(key) or None) for key in content)
    )
