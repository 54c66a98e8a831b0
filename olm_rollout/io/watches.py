"""Watches of what we manage: the memory of the controller follows our objects only.

Only metadata is cached, and of most kinds no more is asked for; of kinds that are probed also
whether an object works, so that it need not be read.

One watch per owner, kind and namespace, as the owner's identity and with its label as the
selector: nothing wider, so that an identity needs rights only where its objects are. Where an owner
has few objects of a kind without namespaces, there is one for each, by its name: the API server
holds each change of such a kind against every watch of it, but for those of other names. So it is
for the only one of a kind in a namespace: a watch by name may send what there is, by one request in
place of two, which by label takes the server longer the more objects of the kind there are.

Their stores are also a cache: while nothing changes, nothing is asked for. A watch that is denied
or cannot be opened is tried again with back-off; the owner is enqueued when that begins, so that it
says so and looks by itself from time to time, and when it ends.

A first list is as old as the API server remembers: for one of the moment it waits for etcd, up to
a tenth of a second. Nobody relies on what is missing in it, and the watch shows what is newer.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from api.objects import GVK, KubeObject, ObjectKey
from olm_rollout.owned import Fingerprint, Sighting, sighting
from olm_rollout.ownership import Applier
from olm_rollout.probes import Health, is_probed_by_watch, probe
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.workqueue import Backoff
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Event, EventType, Store

LONGEST_RETRY_SECONDS = 15.0
"""After a watch was refused or broke: how long at most until it is tried again."""

API_SECONDS = 20.0
"""An API that is gone is noticed within a minute, at a request for each group and version."""

FEW = 2
"""So many objects of a cluster-scoped kind are watched by their names; one in a namespace."""

log = logging.getLogger(__name__)

OwnerKey = tuple[str, str]
"""Kind and name of the owner, as in the owner labels."""
Place = tuple[GVK, str]
"""A kind, and the namespace of its objects, empty for cluster-scoped kinds."""
Scope = tuple[GVK, str, str]
"""A kind, the namespace of its objects (empty for cluster-scoped kinds), and the name of the only
one that is watched, empty for all."""
OnChange = Callable[[OwnerKey, ObjectKey], None]
"""Called with an object that changed; an empty name says that it is about the watch itself."""


@dataclass(slots=True)
class _Watch:
    """A watch of an owner.

    every_change      whether each change of an object counts, because its health is looked at
    awaited_in_vain   whether somebody went on without the first list, to be enqueued later
    """

    informer: Informer[Sighting]
    client: KubeClient
    every_change: bool
    task: asyncio.Task[None]
    awaited_in_vain: bool = False

    @property
    def current(self) -> bool:
        """Whether its store can be relied upon."""
        return self.informer.settled.is_set() and not self.informer.problem

    @property
    def relied_upon(self) -> bool:
        """Whether somebody has to hear of what its store did not show before."""
        return self.informer.settled.is_set() or self.awaited_in_vain


@dataclass(frozen=True, slots=True)
class _Leaving:
    """Objects that are being deleted, those of them that are left, and what to call at the end."""

    keys: frozenset[ObjectKey]
    left: set[ObjectKey]
    call: Callable[[frozenset[ObjectKey]], None]


class ManagedWatches:
    """The watches of all owners; must be used inside one running loop."""

    def __init__(self, on_change: OnChange, applier: Applier) -> None:
        self._on_change = on_change
        self._applier = applier
        self._watches: dict[OwnerKey, dict[Scope, _Watch]] = {}
        self._leaving: dict[OwnerKey, dict[str, _Leaving]] = {}
        # One of each for all watches, of which there are thousands.
        self._delay = Backoff(random.random, longest=LONGEST_RETRY_SECONDS).delay
        self._sighting = partial(sighting, applier=applier)
        self._probed = partial(_probed, applier=applier)

    def ensure(
        self,
        owner: OwnerKey,
        client: KubeClient,
        scopes: Iterable[Scope],
        *,
        every_change_of: Callable[[GVK], bool] = lambda _: False,
    ) -> None:
        """Starts what is missing; a watch of another identity is replaced.

        Of kinds that `every_change_of` names each change counts, of others only what concerns
        what we applied.
        """
        running = self._watches.setdefault(owner, {})
        labels = self._applier.selector(*owner)  # one string for all: there are many watches
        for scope in scopes:
            known = running.get(scope)
            every_change = every_change_of(scope[0])
            if known is not None and known.client == client and not known.task.done():
                known.every_change = every_change
                continue
            if known is not None:
                known.task.cancel()
            informer = self._informer(owner, client, scope, labels)
            running[scope] = _Watch(
                informer, client, every_change, asyncio.create_task(informer.run())
            )

    def _informer(
        self, owner: OwnerKey, client: KubeClient, scope: Scope, labels: str
    ) -> Informer[Sighting]:
        """What it calls finds its watch by the scope: so one that ended is gone at once.

        What refers to itself would stay until cycles are looked for.
        """
        selection = _selection(scope, labels)
        store = Store(self._sighting if selection.metadata_only else self._probed)
        store.add_event_handler(partial(self._on_event, owner, scope))
        hooks = Hooks(delay=self._delay, changed=partial(self._on_state, owner, scope))
        return Informer(client, selection, store, hooks)

    async def look_at_apis(self) -> NoReturn:
        """Sees until cancelled that what is watched is served: a watch need not show its end.

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
            (scope[0], watch)
            for watches in self._watches.values()
            for scope, watch in watches.items()
            if scope[0].api_version == version and not watch.informer.problem
        ]
        client.forget_discovered(version)
        for gvk in {gvk for gvk, _ in watched}:
            try:
                await client.resource(gvk)
            except ApiError as error:
                if not error.status:
                    return  # the API server itself is away, which every watch notices
                for kind, watch in watched:
                    if kind == gvk:
                        watch.task.cancel()
                        watch.task = asyncio.create_task(watch.informer.run())

    def keep_only(self, owner: OwnerKey, scopes: Iterable[Scope]) -> None:
        """Stops the watches of what the owner no longer has.

        One of a name goes on until the object is gone: an older revision may be about to delete it.
        """
        running = self._watches.get(owner, {})
        for scope in set(running) - set(scopes):
            if not (scope[2] and running[scope].informer.store.objects()):
                running.pop(scope).task.cancel()

    def stop(self, owner: OwnerKey) -> None:
        """Stops all watches of an owner."""
        for watch in self._watches.pop(owner, {}).values():
            watch.task.cancel()
        self._leaving.pop(owner, None)

    def owners(self) -> list[OwnerKey]:
        """For whom there are watches."""
        return list(self._watches)

    def running(self) -> tuple[int, int]:
        """How many watches there are, and how many of them do not run."""
        every = [watch for watches in self._watches.values() for watch in watches.values()]
        return len(every), sum(bool(watch.informer.problem) for watch in every)

    def store(self, owner: OwnerKey, scope: Scope) -> Store[Sighting] | None:
        """What is known of a kind there, or None while that is not up to date."""
        watch = self._watch_of(owner, scope)
        return watch.informer.store if watch is not None and watch.current else None

    def _watch_of(self, owner: OwnerKey, scope: Scope) -> _Watch | None:
        return self._watches.get(owner, {}).get(scope)

    def sighting(self, owner: OwnerKey, key: ObjectKey) -> Sighting | None:
        """An object as last seen, None when it was not seen or nobody looks reliably."""
        for scope in _scopes_with(key):
            store = self.store(owner, scope)
            if store is not None:
                return store.get(key.name, key.namespace)
        return None

    def reports_every_change(self, owner: OwnerKey, key: ObjectKey) -> bool:
        """Whether whatever changes of an object counts, because its kind is probed."""
        found = self._watches.get(owner, {})
        return any(found[scope].every_change for scope in _scopes_with(key) if scope in found)

    def call_when_deleted(
        self,
        owner: OwnerKey,
        who: str,
        keys: Iterable[ObjectKey],
        call: Callable[[frozenset[ObjectKey]], None],
    ) -> None:
        """Calls once, when the last of these objects was seen to go; replaces what `who` asked.

        Only those count, and are given, that a watch has in its store; without any nothing is
        called.
        """
        seen = frozenset(key for key in keys if self.sighting(owner, key) is not None)
        self._leaving.setdefault(owner, {})[who] = _Leaving(seen, set(seen), call)

    def _on_gone(self, owner: OwnerKey, key: ObjectKey) -> None:
        waiting = self._leaving.get(owner, {})
        for who, leaving in tuple(waiting.items()):
            if leaving.left == {key}:
                del waiting[who]
                leaving.call(leaving.keys)
            leaving.left.discard(key)

    async def settle(self, owner: OwnerKey, seconds: float) -> None:
        """Waits until every watch has its first list or a problem, at most so long."""
        watches = tuple(self._watches.get(owner, {}).values())
        try:
            async with asyncio.timeout(seconds):
                for watch in watches:
                    await watch.informer.settled.wait()
        except TimeoutError:
            for watch in watches:
                watch.awaited_in_vain = not watch.informer.settled.is_set()

    def problems(self, owner: OwnerKey) -> list[str]:
        """Why watches of an owner do not run, sorted; empty when all do."""
        watches = self._watches.get(owner, {})
        return sorted(
            {
                _problem(scope[0], watch)
                for scope, watch in watches.items()
                if watch.informer.problem
            }
        )

    async def close(self) -> None:
        """Stops everything."""
        tasks = [w.task for watches in self._watches.values() for w in watches.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watches.clear()

    def _on_state(self, owner: OwnerKey, scope: Scope) -> None:
        gvk, namespace, _ = scope
        watch = self._watch_of(owner, scope)
        if watch is None:
            return
        if watch.informer.problem:
            log.info("%s %s: %s", *owner, _problem(gvk, watch))
        if watch.relied_upon:
            self._on_change(owner, ObjectKey(gvk, namespace, ""))

    def _on_event(self, owner: OwnerKey, scope: Scope, event: Event[Sighting]) -> None:
        watch, key = self._watch_of(owner, scope), ObjectKey(scope[0], *event.key)
        if event.type is EventType.DELETED:
            self._on_gone(owner, key)
        if watch is None or not watch.relied_upon:
            return
        if watch.every_change or _concerns_us(event):
            self._on_change(owner, key)


def _probed(live: KubeObject, applier: Applier) -> Sighting:
    """Of an object that was seen as a whole."""
    works = probe(live).health is Health.HEALTHY
    return sighting(live, applier)._replace(works=works)


def few_of(keys: Iterable[ObjectKey]) -> frozenset[Place]:
    """Where there are few objects of a kind."""
    counts = Counter((key.gvk, key.namespace) for key in set(keys))
    return frozenset(
        (gvk, namespace)
        for (gvk, namespace), count in counts.items()
        if count <= (1 if namespace else FEW)
    )


def scope_of(key: ObjectKey, few: Container[Place]) -> Scope:
    """What is watched for an object, where it is known of which there are few."""
    place = key.gvk, key.namespace
    return *place, key.name if place in few else ""


def _scopes_with(key: ObjectKey) -> tuple[Scope, Scope]:
    """Those in which an object may be seen."""
    return (key.gvk, key.namespace, key.name), (key.gvk, key.namespace, "")


def _selection(scope: Scope, labels: str) -> Selection:
    gvk, namespace, name = scope
    return Selection(
        gvk,
        namespace,
        labels=labels,
        fields=f"metadata.name={name}" if name else "",
        metadata_only=not is_probed_by_watch(gvk),
        cached=True,
        streamed=bool(name),
    )


def _concerns_us(event: Event[Sighting]) -> bool:
    """Whether what we applied changed."""
    return _fingerprint(event.old) != _fingerprint(event.new)


def _fingerprint(seen: Sighting | None) -> Fingerprint | None:
    return seen.fingerprint if seen is not None else None


def _problem(gvk: GVK, watch: _Watch) -> str:
    return f"cannot watch {gvk.kind}: {watch.informer.problem}"
