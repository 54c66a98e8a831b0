"""Objects that are applied once, and again when they were changed or are gone."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from api.objects import GVK, KubeObject, ObjectKey, gvk_of, key_of, metadata, name_of, namespace_of
from olm_classic.names import FIELD_MANAGER
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.media_types import JSON_PATCH
from olm_runtime.watch.store import Store


@dataclass(frozen=True, slots=True)
class OwnedObjects:
    """Applies objects of some kinds, each with a store of those that there are.

    The answer to what was applied last is known by its version. While the store has that version,
    and the same is wanted, nothing is asked of the server.
    """

    client: KubeClient
    stores: Mapping[GVK, Store[KubeObject]]
    exact: frozenset[GVK] = frozenset()
    """Kinds whose specification has nothing that is not wanted: a rule more allows more."""
    manager: str = FIELD_MANAGER
    _applied: dict[ObjectKey, tuple[str, str]] = field(default_factory=dict)

    def find(self, kind: GVK, name: str, namespace: str) -> KubeObject | None:
        """An object as it is known. Raises NotSyncedError."""
        store = self.stores[kind]
        store.check_synced()
        return store.get(name, namespace)

    async def ensure(self, obj: KubeObject) -> None:
        """Has an object be as wanted. Raises ApiError, NotSyncedError."""
        kind, key = gvk_of(obj), key_of(obj)
        found = self.find(kind, name_of(obj), namespace_of(obj))
        wanted = hashlib.sha256(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)).hexdigest()
        if found is not None and self._applied.get(key) == (wanted, _version(found)):
            return
        applied = await self.client.apply(obj, field_manager=self.manager)
        if kind in self.exact and applied["spec"] != obj["spec"]:
            patch = [{"op": "replace", "path": "/spec", "value": obj["spec"]}]
            applied = await self.client.patch(
                obj, patch, content_type=JSON_PATCH, field_manager=self.manager
            )
        self.stores[kind].update(applied)
        self._applied[key] = wanted, _version(applied)

    async def remove(self, obj: KubeObject) -> None:
        """Deletes an object, if it is the one that was seen. Raises ApiError."""
        left = await self.client.delete(obj, uid=metadata(obj)["uid"])
        if left is None:
            self.stores[gvk_of(obj)].delete(obj)
        self._applied.pop(key_of(obj), None)


def _version(obj: KubeObject) -> str:
    return str(metadata(obj).get("resourceVersion") or "")
