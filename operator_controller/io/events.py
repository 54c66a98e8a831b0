"""Events about extensions, written outside of reconciles: no extension waits for one."""

import asyncio
import logging
from collections.abc import Iterable
from typing import NoReturn

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from olm_runtime.controller.attempt import attempt
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.events import EventRecorder

CONTROLLER = "olm.operatorframework.io/operator-controller"
MAX_PENDING = 1024
"""Beyond it Events are dropped: they are for people, who do not read so many."""

log = logging.getLogger(__name__)


class Announcer:
    """Writes Events in the order in which they were announced."""

    def __init__(self, client: KubeClient, *, instance: str) -> None:
        """`instance` names this process in Events."""
        self._recorder = EventRecorder(client, controller=CONTROLLER, instance=instance)
        self._pending: asyncio.Queue[tuple[KubeObject, Happening]] = asyncio.Queue(MAX_PENDING)

    def announce(self, extension: KubeObject, happenings: Iterable[Happening]) -> None:
        """Has the Events about a ClusterExtension written soon; never fails."""
        meta = metadata(extension)
        about: KubeObject = {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_EXTENSION,
            "metadata": {"name": meta.get("name"), "uid": meta.get("uid")},
        }
        for happening in happenings:
            try:
                self._pending.put_nowait((about, happening))
            except asyncio.QueueFull:
                log.warning("too many events, dropped one: %s", happening.note)

    async def run(self) -> NoReturn:
        """Writes until cancelled."""
        while True:
            await attempt(self._recorder.record(*await self._pending.get()), "an Event")
