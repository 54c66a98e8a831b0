"""The list and watch of a kind into a store, for all that kopf does not watch."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from api.objects import GVK, KubeObject, metadata
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, GoneError
from olm_runtime.watch.store import Store

SHORTEST_WATCH_SECONDS = 1.0
"""A server that ends watches at once is asked this often, and no more."""
STABLE_SECONDS = 15.0
"""A failure counts as the first one after a list and watch that lasted this long."""
ANY_VERSION = "0"
"""Asked of a list: as the server has it in memory, however old."""

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
    page_size      of lists, which then always come by pages; 0 where the server may answer at once
    keep           makes of each object what is kept of it; it may be asked again of what it made
    """

    gvk: GVK
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False
    cached: bool = False
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

    __slots__ = ("_client", "_hooks", "_selection", "_version", "problem", "settled", "store")

    def __init__(
        self, client: KubeClient, selection: Selection, store: Store[T], hooks: Hooks
    ) -> None:
        self.store = store
        self.problem = ""
        """Why the objects are not watched; empty while they are."""
        self.settled = asyncio.Event()
        """Set once the first list is stored, or could not be had."""
        self._client = client
        self._selection = selection
        self._hooks = hooks
        self._version = ANY_VERSION if selection.cached and not store.synced else ""

    async def run(self) -> None:
        """Lists and watches until cancelled. Raises ApiError for an error that is the end."""
        failures = 0
        while True:
            begun = asyncio.get_running_loop().time()
            try:
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
        self.store.replace(found, self._version, since=since)
        await self._hooks.stored()
        self.settled.set()

    async def _watch(self) -> None:
        """Watches until the version is too old. Raises ApiError when a watch is refused."""
        while True:
            begun = asyncio.get_running_loop().time()
            opened = asyncio.Event()
            try:
                await self._watch_once(opened)
            except GoneError:
                return
            except ApiError:
                if not opened.is_set():
                    raise
            await _pass(begun, SHORTEST_WATCH_SECONDS)

    async def _watch_once(self, opened: asyncio.Event) -> None:
        """Stores what happens until the server ends the watch."""
        selection = self._selection

        def note_opened() -> None:
            opened.set()
            self._report("")

        events = self._client.watch(
            selection.gvk,
            selection.namespace,
            resource_version=self._version,
            labels=selection.labels,
            fields=selection.fields,
            metadata_only=selection.metadata_only,
            opened=note_opened,
        )
        async for event in events:
            obj = event["object"]
            self._version = metadata(obj).get("resourceVersion") or self._version
            if event["type"] == "BOOKMARK":
                continue
            obj = selection.keep(obj)
            if event["type"] == "DELETED":
                self.store.delete(obj)
            else:
                self.store.update(obj)
            await self._hooks.stored()


async def _pass(begun: float, seconds: float) -> None:
    """Waits until so long after `begun`."""
    await asyncio.sleep(max(0.0, begun + seconds - asyncio.get_running_loop().time()))
