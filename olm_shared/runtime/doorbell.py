"""kopf as a doorbell: it watches, we only note which key to look at.

Low-level event handlers keep no state on the objects and write nothing to them. kopf runs in a
thread and loop of its own, because stopping it cancels every task of its loop, and under a
supervisor, because an error answer of the API server ends it. It is imported there, too: it takes
longer than anything else that a program needs at its start, and nobody waits for it.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from olm_shared.kube_object import KubeObject
from olm_shared.runtime.access import ClusterAccess

RESTART_SECONDS = 1.0
STOP_SECONDS = 10.0
CLOSING_SECONDS = 0.1
"""TLS connections close in the background; the loop in which they do so ends with us."""

log = logging.getLogger(__name__)

Ring = Callable[[str, KubeObject], None]
"""Called in the subscriber's own loop: ADDED, MODIFIED, DELETED or "" (listed), and the object."""


@dataclass(frozen=True, slots=True)
class Bell:
    """One kind to watch cluster-wide, and whom to tell."""

    group: str
    version: str
    plural: str
    ring: Ring


class Doorbell:
    """Watches kinds until stopped; starts kopf again whenever it ends by itself."""

    def __init__(self, access: ClusterAccess, bells: Sequence[Bell]) -> None:
        self._access = access
        self._bells = bells
        self._listener: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._stopping = threading.Event()
        self.restarts = 0

    async def run(self) -> None:
        """Watches until cancelled; then stops kopf and waits for its thread."""
        self._listener = asyncio.get_running_loop()
        ended = asyncio.Event()
        thread = threading.Thread(
            target=self._supervise, args=(ended,), name="doorbell", daemon=True
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
        try:
            loop.run_until_complete(self._watch())
        except Exception:
            log.exception("watching stopped with an error")
        finally:
            _close(loop)
        if not self._stopping.is_set():
            self.restarts += 1
            log.warning("watching again in %.0f s", RESTART_SECONDS)
            self._stopping.wait(RESTART_SECONDS)

    def _in_listener(self, call: Callable[..., Any], *arguments: Any) -> None:
        if self._listener is not None:
            with suppress(RuntimeError):  # its loop is closed: nobody listens any more
                self._listener.call_soon_threadsafe(call, *arguments)

    async def _watch(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        if self._stopping.is_set():
            return
        from olm_shared.runtime.kopf_watch import watch

        await watch(self._access, self._bells, self._in_listener, stop=self._stop)
        await asyncio.sleep(CLOSING_SECONDS)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Ends a loop, and does not wait for tasks that go on although they were cancelled."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=STOP_SECONDS / 10))
    if all(task.done() for task in tasks):
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
