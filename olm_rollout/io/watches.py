"""Metadata-only watches of what we manage: the memory of the controller follows our objects only.

One watch per extension, kind and namespace, as the extension's own identity and with its label
as the selector: nothing wider, so that an identity needs rights only where its objects are. The
watch is also a cache: while nothing changes, nothing is asked for. A connection that is cut is
taken up where it ended. A watch that is denied or cannot be opened is tried again with back-off;
the owner is rung when that begins, so that it says so and looks by itself from time to time, and
when it ends. Whatever happened in between is found by comparing lists.

A first list is as old as the API server remembers: for one of the moment it waits for etcd, up to
a tenth of a second. Nobody relies on what is missing in it, and the watch tells what is newer.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from api.objects import GVK, KubeObject, ObjectKey, key_of, metadata
from olm_rollout.owned import Fingerprint, Sighting, sighting
from olm_rollout.ownership import Applier
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.workqueue import Backoff
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, GoneError

LONGEST_RETRY_SECONDS = 15.0
"""After a watch was refused or broke: how long at most until it is tried again."""
SHORTEST_WATCH_SECONDS = 1.0
"""A server that ends watches at once is asked this often, and no more."""

API_SECONDS = 20.0
"""An API that is gone is told within a minute, at a request for each group and version."""

ANY_VERSION = "0"
"""Asked of a list: as the API server has it in memory, however old."""

log = logging.getLogger(__name__)

OwnerKey = tuple[str, str]
"""Kind and name of the owner, as in the owner labels."""
Scope = tuple[GVK, str]
"""A kind, and the namespace of its objects (empty for cluster-scoped kinds)."""
OnChange = Callable[[OwnerKey, ObjectKey], None]
"""Told which object changed; an empty name says that it is about the watch itself."""


@dataclass(slots=True)
class View:
    """What a watch knows.

    `settled` once the first list is in or was refused; `awaited` in vain when somebody went on
    without it, so that he must be told of it later; `every_change` when each change of an object
    is told, because its health is looked at.
    """

    every_change: bool
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    awaited_in_vain: bool = False
    objects: dict[ObjectKey, Sighting] = field(default_factory=dict)
    version: str = ANY_VERSION
    problem: str = ""

    def get(self, key: ObjectKey) -> Sighting | None:
        """The object as last seen."""
        return self.objects.get(key)


@dataclass(slots=True)
class _Watch:
    view: View
    task: asyncio.Task[None]
    client: KubeClient


@dataclass(frozen=True, slots=True)
class _Leaving:
    """Objects that are being deleted, those of them that are left, and whom to tell at the end."""

    keys: frozenset[ObjectKey]
    left: set[ObjectKey]
    tell: Callable[[frozenset[ObjectKey]], None]


class ManagedWatches:
    """The watches of all owners; must be used inside one running loop."""

    def __init__(self, on_change: OnChange, applier: Applier) -> None:
        self._on_change = on_change
        self._applier = applier
        self._watches: dict[OwnerKey, dict[Scope, _Watch]] = {}
        self._leaving: dict[OwnerKey, dict[str, _Leaving]] = {}
        self._backoff = Backoff(random.random, longest=LONGEST_RETRY_SECONDS)

    def ensure(
        self,
        owner: OwnerKey,
        client: KubeClient,
        scopes: Iterable[Scope],
        *,
        every_change_of: Callable[[GVK], bool] = lambda _: False,
    ) -> None:
        """Starts what is missing; a watch of another identity is replaced.

        Of kinds that `every_change_of` names each change is told, of others only what concerns
        what we applied.
        """
        running = self._watches.setdefault(owner, {})
        for scope in scopes:
            known = running.get(scope)
            every_change = every_change_of(scope[0])
            if known is not None and known.client == client and not known.task.done():
                known.view.every_change = every_change
                continue
            if known is not None:
                known.task.cancel()
            view = View(every_change)
            task = asyncio.create_task(self._follow(owner, client, scope, view))
            running[scope] = _Watch(view, task, client)

    async def look_at_apis(self) -> NoReturn:
        """Sees until cancelled that what is watched is served: a watch need not hear of its end.

        The API server may keep the watch of a version open that it serves no more, and a proxy that
        of a server that is gone.
        """
        while True:
            await asyncio.sleep(API_SECONDS)
            by_version = {
                scope[0].api_version: watch.client
                for watches in self._watches.values()
                for scope, watch in watches.items()
            }
            for version, client in by_version.items():
                await attempt(self._look_at_api(version, client), f"the API {version}")

    async def _look_at_api(self, version: str, client: KubeClient) -> None:
        """Has the watches of kinds that are not served begun anew, so that they say why not."""
        watched = [
            (owner, scope, watch)
            for owner, watches in self._watches.items()
            for scope, watch in watches.items()
            if scope[0].api_version == version and not watch.view.problem
        ]
        client.forget_discovered(version)
        for gvk in {scope[0] for _, scope, _ in watched}:
            try:
                await client.resource(gvk)
            except ApiError as error:
                if not error.status:
                    return  # the API server itself is away, which every watch notices
                for owner, scope, watch in watched:
                    if scope[0] == gvk:
                        self._begin_anew(owner, scope, watch)

    def _begin_anew(self, owner: OwnerKey, scope: Scope, watch: _Watch) -> None:
        watch.task.cancel()
        watch.task = asyncio.create_task(self._follow(owner, watch.client, scope, watch.view))

    def keep_only(self, owner: OwnerKey, scopes: Iterable[Scope]) -> None:
        """Stops the watches of what the owner no longer has."""
        running = self._watches.get(owner, {})
        for scope in set(running) - set(scopes):
            running.pop(scope).task.cancel()

    def stop(self, owner: OwnerKey) -> None:
        """Stops all watches of an owner."""
        self.keep_only(owner, ())
        self._watches.pop(owner, None)
        self._leaving.pop(owner, None)

    def owners(self) -> list[OwnerKey]:
        """For whom there are watches."""
        return list(self._watches)

    def running(self) -> tuple[int, int]:
        """How many watches there are, and how many of them do not run."""
        views = [watch.view for kinds in self._watches.values() for watch in kinds.values()]
        return len(views), sum(bool(view.problem) for view in views)

    def view(self, owner: OwnerKey, scope: Scope) -> View | None:
        """What is known of a kind there, or None while that is not up to date."""
        watch = self._watches.get(owner, {}).get(scope)
        if watch is None or watch.view.problem or not watch.view.settled.is_set():
            return None
        return watch.view

    def sighting(self, owner: OwnerKey, key: ObjectKey) -> Sighting | None:
        """An object as last seen, None when it was not seen or nobody looks reliably."""
        view = self.view(owner, (key.gvk, key.namespace))
        return view.get(key) if view is not None else None

    def tells_every_change(self, owner: OwnerKey, key: ObjectKey) -> bool:
        """Whether objects of the kind are told of whatever changes, because they are probed."""
        watch = self._watches.get(owner, {}).get((key.gvk, key.namespace))
        return watch is not None and watch.view.every_change

    def tell_when_gone(
        self,
        owner: OwnerKey,
        who: str,
        keys: Iterable[ObjectKey],
        tell: Callable[[frozenset[ObjectKey]], None],
    ) -> None:
        """Tells once that the last of these objects was seen to go; in place of what `who` asked.

        Only those count, and are told, that a watch has in view; without any nothing is told.
        """
        seen = frozenset(key for key in keys if self.sighting(owner, key) is not None)
        self._leaving.setdefault(owner, {})[who] = _Leaving(seen, set(seen), tell)

    def _say_gone(self, owner: OwnerKey, key: ObjectKey) -> None:
        waiting = self._leaving.get(owner, {})
        for who, leaving in tuple(waiting.items()):
            if leaving.left == {key}:
                del waiting[who]
                leaving.tell(leaving.keys)
            leaving.left.discard(key)

    async def settle(self, owner: OwnerKey, seconds: float) -> None:
        """Waits until every watch has its first list or a problem, at most so long."""
        views = [watch.view for watch in self._watches.get(owner, {}).values()]
        try:
            async with asyncio.timeout(seconds):
                for view in views:
                    await view.settled.wait()
        except TimeoutError:
            for view in views:
                view.awaited_in_vain = not view.settled.is_set()

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
        failures = 0
        while True:
            begun = asyncio.get_running_loop().time()
            try:
                await self._list(owner, client, scope, view)
                await self._watch(owner, client, scope, view)
            except ApiError as error:
                problem = f"cannot watch {scope[0].kind}: {error.message}"
            except Exception:
                log.exception("%s %s: watch of %s", *owner, scope[0].kind)
                problem = f"cannot watch {scope[0].kind}: internal error"
            else:
                await _pass(begun, SHORTEST_WATCH_SECONDS)
                continue
            lasted = asyncio.get_running_loop().time() - begun
            failures = 1 if lasted > LONGEST_RETRY_SECONDS else failures + 1
            self._report(owner, scope, view, problem)
            await asyncio.sleep(self._backoff.delay(failures))

    def _report(self, owner: OwnerKey, scope: Scope, view: View, problem: str) -> None:
        """Notes how the watch does; rings when that is news for somebody who does not wait."""
        if problem and problem != view.problem:
            log.info("%s %s: %s", *owner, problem)
        news = bool(problem) != bool(view.problem)
        view.problem = problem
        if news and (view.settled.is_set() or view.awaited_in_vain):
            self._on_change(owner, ObjectKey(scope[0], scope[1], ""))
        view.settled.set()

    async def _list(self, owner: OwnerKey, client: KubeClient, scope: Scope, view: View) -> None:
        items, view.version = await client.list_all(
            *scope,
            labels=self._applier.selector(*owner),
            metadata_only=True,
            not_older_than=view.version,
        )
        fresh = {key_of(item): sighting(item, self._applier) for item in items}
        old, view.objects = view.objects, fresh
        if view.settled.is_set() or view.awaited_in_vain:
            for key in sorted(old.keys() | fresh.keys()):
                if _fingerprint(old, key) != _fingerprint(fresh, key):
                    self._on_change(owner, key)
        view.settled.set()

    async def _watch(self, owner: OwnerKey, client: KubeClient, scope: Scope, view: View) -> None:
        """Follows changes until the version is too old. Raises ApiError when it may not."""
        while True:
            begun = asyncio.get_running_loop().time()
            opened = asyncio.Event()
            on_open = partial(self._opened, owner, scope, view, opened)
            try:
                async for event in client.watch(
                    *scope,
                    resource_version=view.version,
                    labels=self._applier.selector(*owner),
                    metadata_only=True,
                    opened=on_open,
                ):
                    obj = event["object"]
                    view.version = metadata(obj).get("resourceVersion") or view.version
                    if event["type"] != "BOOKMARK":
                        self._note(owner, view, event["type"], obj)
            except GoneError:
                return
            except ApiError:
                if not opened.is_set():
                    raise
            await _pass(begun, SHORTEST_WATCH_SECONDS)

    def _opened(self, owner: OwnerKey, scope: Scope, view: View, opened: asyncio.Event) -> None:
        opened.set()
        self._report(owner, scope, view, "")

    def _note(self, owner: OwnerKey, view: View, kind: str, obj: KubeObject) -> None:
        key = key_of(obj)
        before = _fingerprint(view.objects, key)
        if kind == "DELETED":
            view.objects.pop(key, None)
            self._say_gone(owner, key)
        else:
            view.objects[key] = sighting(obj, self._applier)
        changed = before != _fingerprint(view.objects, key)
        if kind == "DELETED" or changed or view.every_change:
            self._on_change(owner, key)


async def _pass(begun: float, seconds: float) -> None:
    """Waits until so long after `begun`."""
    await asyncio.sleep(max(0.0, begun + seconds - asyncio.get_running_loop().time()))


def _fingerprint(objects: Mapping[ObjectKey, Sighting], key: ObjectKey) -> Fingerprint | None:
    found = objects.get(key)
    return found.fingerprint if found is not None else None
