"""kopf as a doorbell: it watches, we only note which key to look at.

Low-level event handlers keep no state on the objects and write nothing to them. kopf runs in a
thread and loop of its own, because stopping it cancels every task of its loop, and under a
supervisor, because an error answer of the API server ends it. Import it late: kopf takes longer
than anything else that a program needs, and nobody waits for it.
"""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import aiohttp

from olm_shared.runtime.access import ClusterAccess
from olm_shared.runtime.bell import Bell


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """Has imports do without a package, unless it is imported already."""
    modules: dict[str, Any] = sys.modules
    known = package in modules
    if not known:
        modules[package] = None
    try:
        yield
    finally:
        if not known:
            del modules[package]


with _hidden("kubernetes"):
    # kopf would load it to know its classes, which we give to nobody: 9 MiB of every program.
    import kopf

RESTART_SECONDS = 1.0
STOP_SECONDS = 10.0
CLOSING_SECONDS = 0.1
"""TLS connections close in the background; the loop in which they do so ends with us."""
IDENTITY: Any = "olmv1"
"""Given nothing, kopf asks the system for the user's name. A container's user need not have one."""

log = logging.getLogger(__name__)


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
        try:
            asyncio.run(self._watch())
        except Exception:
            log.exception("watching stopped with an error")
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
        await kopf.operator(
            registry=self._registry(),
            settings=_settings(),
            clusterwide=True,
            standalone=True,
            identity=IDENTITY,
            stop_flag=self._stop,
        )
        await asyncio.sleep(CLOSING_SECONDS)

    def _registry(self) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()

        @kopf.on.login(registry=registry)
        async def login(**_: Any) -> kopf.AiohttpSession:
            return _connection(self._access)

        for bell in self._bells:
            self._subscribe(registry, bell)
        return registry

    def _subscribe(self, registry: kopf.OperatorRegistry, bell: Bell) -> None:
        @kopf.on.event(bell.group, bell.version, bell.plural, registry=registry)
        async def on_event(event: kopf.RawEvent, **_: Any) -> None:
            self._in_listener(bell.ring, event["type"] or "", dict(event["object"]))


def _settings() -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.watching.server_timeout = 290
    settings.watching.client_timeout = 330
    settings.networking.error_backoffs = [1] * 30
    return settings


def _connection(access: ClusterAccess) -> kopf.AiohttpSession:
    """Connections of kopf's own, reaching the API server as all of ours do."""
    authorization = access.authorization()
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=access.tls(), limit=0),
        headers={"Authorization": authorization} if authorization else None,
        proxy=access.proxy,
    )
    return kopf.AiohttpSession(server=access.server, aiohttp_session=session)
