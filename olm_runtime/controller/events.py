"""Events about objects, written in the background: no reconcile waits for one."""

import asyncio
import logging
import time
from collections.abc import Iterable
from typing import NoReturn

from api.objects import KubeObject, metadata
from olm_runtime.controller.attempt import attempt
from olm_runtime.controller.event_limit import EventLimit
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.events import EventRecorder

MAX_PENDING = 1024
"""Beyond it Events are dropped: they are for people, who do not read so many."""

log = logging.getLogger(__name__)


class EventBroadcaster:
    """Writes Events in the order in which they were announced."""

    def __init__(
        self,
        client: KubeClient,
        *,
        controller: str,
        instance: str,
        limit: EventLimit | None = None,
    ) -> None:
        """`controller` reports the Events, `instance` names this process in them.

        Those beyond a `limit` are dropped without a word.
        """
        self._limit = limit
        self._recorder = EventRecorder(client, controller=controller, instance=instance)
        self._pending: asyncio.Queue[tuple[KubeObject, Happening]] = asyncio.Queue(MAX_PENDING)

    def announce(self, obj: KubeObject, happenings: Iterable[Happening]) -> None:
        """Has the Events about an object written soon; never fails."""
        named = {key: metadata(obj).get(key) for key in ("namespace", "name", "uid")}
        about: KubeObject = {
            "apiVersion": obj["apiVersion"],
            "kind": obj["kind"],
            "metadata": {key: value for key, value in named.items() if value},
        }
        for happening in happenings:
            if not self._allows(about, happening.reason):
                continue
            try:
                self._pending.put_nowait((about, happening))
            except asyncio.QueueFull:
                log.warning("too many events, dropped one: %s", happening.note)

    def _allows(self, about: KubeObject, reason: str) -> bool:
        return self._limit is None or self._limit.allows(about, reason, time.monotonic())

    async def run(self) -> NoReturn:
        """Writes until cancelled."""
        while True:
            await attempt(self._recorder.record(*await self._pending.get()), "an Event")
