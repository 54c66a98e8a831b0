"""The list and watch of a kind into a store, for all that kopf does not watch."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from api.objects import GVK, KubeObject, metadata
from olm_runtime.kube.client import KubeClient, ends_initial_events
from olm_runtime.kube.errors import ApiError, GoneError, InvalidError
from olm_runtime.latch import Latch
from olm_runtime.watch.store import Store

SHORTEST_WATCH_SECONDS = 1.0
"""A server that ends watches at once is asked this often, and no more."""
STABLE_SECONDS = 15.0
"""A failure counts as the first one after a list and watch that lasted this long."""
ANY_VERSION = "0"
"""Asked of a list: as the server has it in memory, however old."""
INITIAL_SECONDS = 3.0
"""A server sends at once what there is; one that does not say when that is all never will."""

T = TypeVar("T")

log = logging.getLogger(__name__)


def _whole(obj: KubeObject) -> KubeObject:
    return obj


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects, and how they are asked for.

    namespace      empty for all
    metadata_only  whether they are wanted without their content
    cached         whether the first list may be as old as what the server has in memory, which
                   it answers at once; for one of the moment it asks etcd
    streamed       whether a cached first list may come as the first events of the watch, by one
                   request in place of two. The server looks at all objects of the kind for it, but
                   where `fields` name one
    page_size      of lists, which then always come by pages; 0 where the server may answer at once
    keep           makes of each object what is cached of it; it may be asked again of what it made
    """

    gvk: GVK
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    cached: bool = False
    streamed: bool = False
    page_size: int = 0
    keep: Callable[[KubeObject], KubeObject] = _whole


async def _nothing() -> None:
    pass


def _ignore() -> None:
    pass


def _at_once(_: int) -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Hooks:
    """What an informer calls, and how it tries again.

    stored   awaited after each list and each event that the store took in
    changed  called when it begins or ends to have a problem
    delay    seconds until the next try, after so many failures in a row
    ends     whether an error is the end: else it is tried again
    """

    stored: Callable[[], Awaitable[None]] = _nothing
    changed: Callable[[], None] = _ignore
    delay: Callable[[int], float] = _at_once
    ends: Callable[[ApiError], bool] = lambda _: False


class Informer(Generic[T]):
    """Keeps a store as the API server has a selection of objects.

    A watch that is cut goes on where it was. What happened while there was none is found by another
    list, which is not older than what was seen.
    """

    __slots__ = (
        "_bound",
        "_client",
        "_hooks",
        "_opened",
        "_selection",
        "_version",
        "problem",
        "settled",
        "store",
    )

    def __init__(
        self, client: KubeClient, selection: Selection, store: Store[T], hooks: Hooks
    ) -> None:
        self.store = store
        self.problem = ""
        """Why the objects are not watched; empty while they are."""
        self.settled = Latch()
        """Set once the first list is stored, or could not be had."""
        self._client = client
        self._selection = selection
        self._hooks = hooks
        self._version = ANY_VERSION if selection.cached and not store.synced else ""
        self._opened = False
        """Whether the server has begun the watch that was asked for last."""
        self._bound: asyncio.Timeout | None = None
        """Within which it is to have sent what there is."""

    async def run(self) -> None:
        """Lists and watches until cancelled. Raises ApiError for an error that is the end."""
        failures = 0
        while True:
            begun = asyncio.get_running_loop().time()
            try:
                if not await self._begin_by_watch():
                    await self._list()
                await self._watch()
            except ApiError as error:
                if self._hooks.ends(error):
                    raise
                problem = error.message
            except Exception:
                log.exception("the watch of %s failed", self._selection.gvk.kind)
                problem = "internal error"
            else:
                await _pass(begun, SHORTEST_WATCH_SECONDS)
                continue
            lasted = asyncio.get_running_loop().time() - begun
            failures = 1 if lasted > STABLE_SECONDS else failures + 1
            self._report(problem)
            await asyncio.sleep(self._hooks.delay(failures))

    def _note_opened(self) -> None:
        self._opened = True
        self._report("")

    def _report(self, problem: str) -> None:
        had_one, self.problem = bool(self.problem), problem
        if had_one != bool(problem):
            self._hooks.changed()
        self.settled.set()

    async def _list(self) -> None:
        selection, since = self._selection, self.store.newest
        found, self._version = await self._client.list_all(
            selection.gvk,
            selection.namespace,
            labels=selection.labels,
            fields=selection.fields,
            metadata_only=selection.metadata_only,
            not_older_than="" if selection.page_size else self._version,
            page_size=selection.page_size,
            keep=selection.keep,
        )
        await self._replace(found, since)

    async def _replace(self, found: list[KubeObject], since: int) -> None:
        self.store.replace(found, self._version, since=since)
        await self._hooks.stored()
        self.settled.set()

    async def _begin_by_watch(self) -> bool:
        """Lists and watches by one request, until the watch ends; False where a list is needed.

        Whatever keeps it from beginning so, a list shows what is wrong.
        """
        gvk = self._selection.gvk
        if not self._selection.streamed or self._version != ANY_VERSION:
            return False
        if not self._client.sends_initial_events(gvk):
            return False
        begun = asyncio.get_running_loop().time()
        try:
            await self._watch_once(initial=True)
        except TimeoutError:
            return False
        except InvalidError:
            if not self._opened:
                self._client.note_no_initial_events(gvk)
        except ApiError:
            pass  # of a cut watch, or the list has it too
        if self._opened:
            await _pass(begun, SHORTEST_WATCH_SECONDS)
        return self._opened

    async def _watch(self) -> None:
        """Watches until the version is too old. Raises ApiError when a watch is refused."""
        while True:
            begun = asyncio.get_running_loop().time()
            try:
                await self._watch_once()
            except GoneError:
                return
            except ApiError:
                if not self._opened:
                    raise
            await _pass(begun, SHORTEST_WATCH_SECONDS)

    async def _watch_once(self, *, initial: bool = False) -> None:
        """Stores what happens until the server ends the watch.

        `_opened` is set once that has begun; with `initial`, once all is stored that there was.
        Raises TimeoutError where that is not all sent.
        """
        selection, since = self._selection, self.store.newest
        self._opened = False
        events = self._client.watch(
            selection.gvk,
            selection.namespace,
            resource_version=self._version,
            labels=selection.labels,
            fields=selection.fields,
            metadata_only=selection.metadata_only,
            initial=initial,
            opened=self._expect_initial if initial else self._note_opened,
        )
        if initial:
            found = await self._initial(events)
            if found is None:
                return
            await self._replace(found, since)
            del found  # the watch goes on for minutes, and there are thousands
            self._note_opened()
        async for event in events:
            self._note_version(event)
            if event["type"] != "BOOKMARK":
                await self._take(event)
            del event  # the next may come in minutes

    def _expect_initial(self) -> None:
        """The server has accepted a watch, and is to send all that there is."""
        if self._bound is not None:
            self._bound.reschedule(asyncio.get_running_loop().time() + INITIAL_SECONDS)

    async def _initial(self, events: AsyncIterator[dict[str, Any]]) -> list[KubeObject] | None:
        """What there is, by the first events of a watch; None if it ends before that is all."""
        found: list[KubeObject] = []
        try:
            async with asyncio.timeout(None) as self._bound:
                async for event in events:
                    if ends_initial_events(event):
                        self._note_version(event)
                        return found
                    found.append(self._selection.keep(event["object"]))
            return None
        finally:
            self._bound = None

    def _note_version(self, event: Mapping[str, Any]) -> None:
        self._version = metadata(event["object"]).get("resourceVersion") or self._version

    async def _take(self, event: Mapping[str, Any]) -> None:
        obj = self._selection.keep(event["object"])
        if event["type"] == "DELETED":
            self.store.delete(obj)
        else:
            self.store.update(obj)
        await self._hooks.stored()


async def _pass(begun: float, seconds: float) -> None:
    """Waits until so long after `begun`."""
    await asyncio.sleep(max(0.0, begun + seconds - asyncio.get_running_loop().time()))
