"""Our own kinds, watched by kopf into stores.

kopf's low-level event handlers keep no state on the objects and write nothing to them. kopf runs
in a thread and loop of its own, because stopping it cancels every task of its loop, and under a
supervisor, because an error answer of the API server ends it. It is imported there, too: it takes
longer than anything else that a program needs at its start, and nobody waits for it.

kopf watches what is served when it starts, and nothing that comes later. So it starts with what is
there, and starts again when more is, or when a watch has died (`health`). It does not report what
was deleted while it did not watch. So each kind is also listed (`lister`): at first, after each
list of kopf's, and from time to time.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from api.objects import KubeObject
from olm_runtime.errors import bounded
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.watch.closing import close
from olm_runtime.watch.health import WatchHealth, WatchTimes
from olm_runtime.watch.lister import Lister
from olm_runtime.watch.source import Source

RESTART_SECONDS = 1.0
STOP_SECONDS = 10.0
CLOSING_SECONDS = 0.1
"""TLS connections close in the background; the loop in which they do so ends with us."""
TIMES = WatchTimes()

log = logging.getLogger(__name__)


class Watcher:
    """Watches kinds until stopped; starts kopf again whenever it ends by itself."""

    def __init__(
        self, access: ClusterAccess, sources: Sequence[Source], times: WatchTimes = TIMES
    ) -> None:
        self.synced = asyncio.Event()
        """Set when each kind that is served is in its store."""
        self._access = access
        self._sources = sources
        self._times = times
        self._listers: dict[str, Lister] = {}
        self._health = WatchHealth(times, time.monotonic())
        self._listener: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopping = threading.Event()
        self.restarts = 0

    def is_alive(self) -> bool:
        """Whether the watches live, or will by themselves."""
        dead = self._health.dead(time.monotonic())
        if dead:
            log.error("not watched any more: %s", ", ".join(dead))
        return not dead

    async def run(self) -> None:
        """Watches until cancelled; then stops kopf and waits for its thread."""
        self._listener = asyncio.get_running_loop()
        async with KubeClient.connect(self._access) as client, asyncio.TaskGroup() as group:
            self._listers = {
                source.path: Lister(client, source.gvk, source.store, self._times.listed)
                for source in self._sources
            }
            for lister in self._listers.values():
                group.create_task(lister.run())
            group.create_task(self._note_synced())
            await self._watch_in_thread()

    async def _note_synced(self) -> None:
        for lister in self._listers.values():
            await lister.tried.wait()
        self.synced.set()

    async def _watch_in_thread(self) -> NoReturn:
        ended = asyncio.Event()
        thread = threading.Thread(
            target=self._supervise, args=(ended,), name="watcher", daemon=True
        )
        thread.start()
        try:
            await ended.wait()
            raise RuntimeError("the thread that watches has ended")
        finally:
            self._stopping.set()
            if self._loop is not None and self._stop is not None:
                with suppress(RuntimeError):  # its loop is closed: it has stopped already
                    self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(thread.join, STOP_SECONDS)

    def _supervise(self, ended: asyncio.Event) -> None:
        try:
            while not self._stopping.is_set():
                self._watch_once()
        finally:
            self._in_listener(ended.set)

    def _watch_once(self) -> None:
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(_note_leftover)
        try:
            loop.run_until_complete(self._watch())
        except Exception as error:
            cause = f"{type(error).__name__}: {bounded(str(error))}"
            log.warning("watching stopped: %s", cause, exc_info=log.isEnabledFor(logging.DEBUG))
        finally:
            close(loop)
        if not self._stopping.is_set():
            self.restarts += 1
            log.warning("watching again in %.0f s", RESTART_SECONDS)
            self._stopping.wait(RESTART_SECONDS)

    def _in_listener(self, call: Callable[..., Any], *arguments: Any) -> None:
        if self._listener is not None:
            with suppress(RuntimeError):  # its loop is closed: nobody listens any more
                self._listener.call_soon_threadsafe(call, *arguments)

    async def _watch(self) -> None:
        """Watches what is served, until that is more, or a watch has died."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        if self._stopping.is_set():
            return
        from olm_runtime.watch.kopf_handlers import Watched, watch

        async with KubeClient.connect(self._access) as client:
            served = await self._any_served(client, self._stop)
            sources = [source for source in self._sources if source.path in served]
            if self._stop.is_set() or not sources:
                return
            looking_after = asyncio.create_task(self._look_after(client, sources, self._stop))
            watched = Watched(sources, self._on_event, self._on_answer, self._times.reopened)
            try:
                await watch(self._access, watched, stop=self._stop)
            finally:
                looking_after.cancel()
        await asyncio.sleep(CLOSING_SECONDS)

    def _on_event(self, source: Source, event: str, obj: KubeObject) -> None:
        store = source.store
        self._in_listener(store.delete if event == "DELETED" else store.update, obj)

    def _on_answer(self, address: str, *, watch: bool) -> None:
        """A list was answered, or a watch was opened.

        The API server may be behind an address with a path of its own.
        """
        for source in self._sources:
            if address.endswith(source.path):
                if watch:
                    self._health.opened(source.path, time.monotonic())
                else:
                    self._in_listener(self._listers[source.path].again.set)

    async def _any_served(self, client: KubeClient, stop: asyncio.Event) -> Collection[str]:
        """The kinds that are served, once any is; none when it is time to stop."""
        waiting = False
        while True:
            served = await self._look(client)
            if served or stop.is_set():
                return served
            if not waiting:
                log.warning("nothing is served that is to be watched; waiting for it")
            waiting = True
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._times.missing)

    async def _look_after(
        self, client: KubeClient, sources: Sequence[Source], stop: asyncio.Event
    ) -> None:
        """Has all be watched anew where more is served than what is, or where a watch has died."""
        watched, begun = {source.path for source in sources}, time.monotonic()
        pause = self._times.served if len(sources) == len(self._sources) else self._times.missing
        while True:
            await asyncio.sleep(pause)
            new = set(await self._look(client)) - watched
            dead = self._health.to_restart(begun, time.monotonic())
            if new or dead:
                log.warning("served now: %s; not watched any more: %s", sorted(new), dead)
                stop.set()
                return

    async def _look(self, client: KubeClient) -> Collection[str]:
        """Notes which kinds are served: none, as far as is known, without the API server."""
        served: set[str] = set()
        try:
            for root in {source.root for source in self._sources}:
                served |= await _served_below(client, root)
        except ApiError as error:
            log.warning("cannot find out what is served: %s", error)
        found = [source.path for source in self._sources if source.path in served]
        self._health.looked(found, time.monotonic())
        return found


async def _served_below(client: KubeClient, root: str) -> set[str]:
    """The paths of the kinds of a group and version. Raises ApiError."""
    try:
        answer = await client.request("GET", root)
    except NotFoundError:
        return set()
    return {f"{root}/{resource['name']}" for resource in answer.get("resources") or ()}


def _note_leftover(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What kopf leaves lying when it ends; why it did is logged by who begins it anew."""
    log.debug("left over: %s", context.get("message"), exc_info=context.get("exception"))
