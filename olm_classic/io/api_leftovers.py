"""What is left of the API services and webhooks of ClusterServiceVersions, and goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from api.objects import GVK, KubeObject, metadata, namespace_of
from olm_classic.csv.owner import owner_of
from olm_classic.io.account_rights import OWNER
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.owned_apis.described import servings
from olm_classic.owned_apis.legacy import legacy_objects
from olm_classic.owned_apis.objects import SYSTEM_NAMESPACE, reader_name
from olm_classic.selections import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    MUTATING,
    ROLE_BINDINGS,
    VALIDATING,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store

CLUSTER_WIDE = (API_SERVICES, VALIDATING, MUTATING, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES)
"""What is outside of namespaces, and therefore goes by labels alone, in this order."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """`stores` are those of the kinds that belong to API services and webhooks."""

    client: KubeClient
    stores: Mapping[GVK, Store[KubeObject]]

    async def delete_legacy(self, csv: KubeObject) -> None:
        """What it has under names of earlier releases of OLM. Raises ApiError."""
        owner = (namespace_of(csv), str(metadata(csv)["name"]))
        for serving in servings(csv):
            for kind, namespace, name in legacy_objects(serving):
                found = self.stores[kind].get(name, namespace)
                if found is not None and owner in owner_of(found):
                    await self._delete(kind, found)

    def owners(self) -> set[tuple[str, str]]:
        """Namespaces and names of the ClusterServiceVersions that objects say they belong to."""
        stores = (self.stores[each.gvk] for each in CLUSTER_WIDE)
        values = {value for store in stores for value in store.index_values(OWNER)}
        return cast("set[tuple[str, str]]", values)

    async def sweep(self, namespace: str, name: str) -> None:
        """Deletes what says that it belongs to one that is not there. Raises ApiError.

        It is asked for once more: a store may not know yet what was made a moment ago.
        """
        found = [
            (each.gvk, obj)
            for each in CLUSTER_WIDE
            for obj in self.stores[each.gvk].by_index(OWNER, (namespace, name))
        ]
        if not found or await self.client.find(CLUSTER_SERVICE_VERSION, name, namespace):
            return
        for kind, obj in found:
            await self._delete(kind, obj)
        served = {_service_of(each) for each in self.stores[API_SERVICES.gvk].objects()}
        for where in {_service_of(obj) for kind, obj in found if kind == API_SERVICES.gvk}:
            if where not in served and all(where):
                await self.release(*where)

    async def release(self, namespace: str, service: str) -> None:
        """Deletes what a Service has in kube-system, if it is its own. Raises ApiError."""
        for name in (reader_name(service), reader_name(service, namespace)):
            found = self.stores[ROLE_BINDINGS.gvk].get(name, SYSTEM_NAMESPACE)
            if found is not None and not is_elsewhere(found, namespace):
                await self._delete(ROLE_BINDINGS.gvk, found)

    async def _delete(self, kind: GVK, obj: KubeObject) -> None:
        named = {**obj, "apiVersion": kind.api_version, "kind": kind.kind}
        if await self.client.delete(named, uid=str(metadata(obj)["uid"])) is None:
            self.stores[kind].delete(obj)


def is_elsewhere(binding: KubeObject, namespace: str) -> bool:
    """Whether a binding is for accounts of other namespaces, too."""
    return any(each.get("namespace") != namespace for each in binding.get("subjects") or ())


def _service_of(api_service: KubeObject) -> tuple[str, str]:
    """Namespace and name of the Service behind an API service; empty for those of Kubernetes."""
    service = (api_service.get("spec") or {}).get("service") or {}
    return str(service.get("namespace") or ""), str(service.get("name") or "")
