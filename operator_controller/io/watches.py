"""Metadata-only watches of what we manage: the memory of the controller follows our objects only.

One watch per extension, kind and namespace, as the extension's own identity and with its label
as the selector: nothing wider, so that an identity needs rights only where its objects are. The
watch is also a cache: while nothing changes, a reconcile needs no request at all. A denied or
broken watch is retried, and until then reported as degraded, so that the controller looks by
itself from time to time.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from api.v1 import names
from olm_shared.kube_object import GVK, KubeObject, ObjectKey, key_of, metadata
from olm_shared.runtime.api_errors import ApiError, GoneError
from olm_shared.runtime.kube import KubeClient
from operator_controller.apply.owned import fingerprint
from operator_controller.observe.probes import has_probe

RETRY_SECONDS = 15.0
"""After a watch was refused or broke: how long until it is tried again."""

log = logging.getLogger(__name__)

OwnerKey = tuple[str, str]
"""Kind and name of the owner, as in the owner labels."""
Scope = tuple[GVK, str]
"""A kind, and the namespace of its objects (empty for cluster-scoped kinds)."""
OnChange = Callable[[OwnerKey, ObjectKey], None]


@dataclass(slots=True)
class View:
    """What a watch knows: metadata by key; `synced` once the first list is in."""

    synced: asyncio.Event = field(default_factory=asyncio.Event)
    objects: dict[ObjectKey, KubeObject] = field(default_factory=dict)
    problem: str = ""

    def get(self, key: ObjectKey) -> KubeObject | None:
        """The object's metadata as last seen."""
        return self.objects.get(key)


@dataclass(slots=True)
class _Watch:
    view: View
    task: asyncio.Task[None]
    client: KubeClient


class ManagedWatches:
    """The watches of all owners; must be used inside one running loop."""

    def __init__(self, on_change: OnChange) -> None:
        self._on_change = on_change
        self._watches: dict[OwnerKey, dict[Scope, _Watch]] = {}

    def ensure(self, owner: OwnerKey, client: KubeClient, scopes: Iterable[Scope]) -> None:
        """Starts what is missing; a watch of another identity is replaced."""
        running = self._watches.setdefault(owner, {})
        for scope in scopes:
            known = running.get(scope)
            if known is not None and known.client == client and not known.task.done():
                continue
            if known is not None:
                known.task.cancel()
            view = View()
            task = asyncio.create_task(self._follow(owner, client, scope, view))
            running[scope] = _Watch(view, task, client)

    def keep_only(self, owner: OwnerKey, scopes: Iterable[Scope]) -> None:
        """Stops the watches of what the owner no longer has."""
        running = self._watches.get(owner, {})
        for scope in set(running) - set(scopes):
            running.pop(scope).task.cancel()

    def stop(self, owner: OwnerKey) -> None:
        """Stops all watches of an owner."""
        self.keep_only(owner, ())
        self._watches.pop(owner, None)

    def view(self, owner: OwnerKey, scope: Scope) -> View | None:
        """What is known of a kind there, or None while its first list is not in."""
        watch = self._watches.get(owner, {}).get(scope)
        return watch.view if watch is not None and watch.view.synced.is_set() else None

    async def settle(self, owner: OwnerKey, seconds: float) -> None:
        """Waits until every watch has its first list or a problem, at most so long."""
        pending = [
            asyncio.create_task(w.view.synced.wait())
            for w in self._watches.get(owner, {}).values()
            if not w.view.problem
        ]
        if pending:
            _, late = await asyncio.wait(pending, timeout=seconds)
            for task in late:
                task.cancel()

    def problems(self, owner: OwnerKey) -> list[str]:
        """Why watches of an owner do not run, sorted; empty when all do."""
        watches = self._watches.get(owner, {}).values()
        return sorted(w.view.problem for w in watches if w.view.problem)

    async def close(self) -> None:
        """Stops everything."""
        tasks = [w.task for kinds in self._watches.values() for w in kinds.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watches.clear()

    async def _follow(self, owner: OwnerKey, client: KubeClient, scope: Scope, view: View) -> None:
        while True:
            try:
                version = await self._list(owner, client, scope, view)
                await self._watch(owner, client, scope, view, version)
            except ApiError as error:
                view.problem = f"cannot watch {scope[0].kind}: {error.message}"
                view.synced.clear()
                log.info("%s %s: %s", *owner, view.problem)
                await asyncio.sleep(RETRY_SECONDS)

    async def _list(self, owner: OwnerKey, client: KubeClient, scope: Scope, view: View) -> str:
        gvk, namespace = scope
        items, version = await client.list_all(
            gvk, namespace, labels=_selector(owner), metadata_only=True
        )
        fresh = {_key(gvk, item): item for item in items}
        changed = {k for k in set(fresh) | set(view.objects) if _differ(fresh, view.objects, k)}
        view.objects = fresh
        view.problem = ""
        first = not view.synced.is_set()
        view.synced.set()
        if not first:
            for key in changed:
                self._on_change(owner, key)
        return version

    async def _watch(
        self, owner: OwnerKey, client: KubeClient, scope: Scope, view: View, version: str
    ) -> None:
        while True:
            try:
                async for event in client.watch(
                    *scope, resource_version=version, labels=_selector(owner), metadata_only=True
                ):
                    obj = event["object"]
                    version = metadata(obj).get("resourceVersion") or version
                    if event["type"] != "BOOKMARK":
                        self._note(owner, scope[0], view, event["type"], obj)
            except GoneError:
                return

    def _note(self, owner: OwnerKey, gvk: GVK, view: View, kind: str, obj: KubeObject) -> None:
        key = _key(gvk, obj)
        before = view.objects.get(key)
        if kind == "DELETED":
            view.objects.pop(key, None)
            self._on_change(owner, key)
            return
        view.objects[key] = obj
        same = before is not None and fingerprint(before) == fingerprint(obj)
        if not same or has_probe(gvk.group, gvk.kind):
            self._on_change(owner, key)


def _selector(owner: OwnerKey) -> str:
    labels = {
        names.LABEL_OWNER_KIND: owner[0],
        names.LABEL_OWNER_NAME: names.label_value(owner[1]),
    }
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _key(gvk: GVK, obj: KubeObject) -> ObjectKey:
    found = key_of(obj)
    return ObjectKey(gvk, found.namespace, found.name)


def _differ(
    new: dict[ObjectKey, KubeObject], old: dict[ObjectKey, KubeObject], key: ObjectKey
) -> bool:
    before, after = old.get(key), new.get(key)
    return before is None or after is None or fingerprint(before) != fingerprint(after)
