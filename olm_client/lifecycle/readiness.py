"""How far the objects of an extension are while its newest revision rolls out: n of m, and why."""

import asyncio
from collections.abc import Sequence

from api.objects import KubeObject, key_of
from api.olm.v1 import names
from api.olm.v1.kinds import OBJECT_SET
from olm_client.history import content_of
from olm_client.lifecycle.live_objects import LiveObject, read_live
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revision, Revisions

READ_SECONDS = 2.0
SHOWN = 3
"""Objects that are named with what they wait for."""


class Readiness:
    """Reads the objects now and then. Says nothing where they may not be read."""

    def __init__(self, kube: KubeClient, extension: str) -> None:
        self._kube = kube
        self._extension = extension
        self._content: tuple[str, list[KubeObject]] = ("", [])
        self._next = 0.0
        self._lines: list[str] = []
        self._forbidden = False

    async def lines(self) -> list[str]:
        """The count, and what the first of those wait for that are not ready."""
        now = asyncio.get_running_loop().time()
        if now >= self._next and not self._forbidden:
            try:
                self._lines = await self._read()
            except TerminalError:
                self._forbidden = True  # the Secrets that hold the content are not for everybody
            except OLMError:
                self._lines = []  # half written, or a passing fault: it is read again
            self._next = now + READ_SECONDS
        return self._lines

    async def _read(self) -> list[str]:
        labels = owner_labels(names.CLUSTER_EXTENSION, self._extension)
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        found, _ = await self._kube.list_all(OBJECT_SET, labels=selector)
        unfinished = Revisions.of(found).unfinished
        if not unfinished:
            return []
        objects = await self._objects(unfinished[-1])
        return readiness_lines(await read_live(self._kube, objects))

    async def _objects(self, revision: Revision) -> list[KubeObject]:
        """What the revision holds, read once."""
        if self._content[0] != revision.name:
            what_for = "the objects of a revision are told"
            content = await content_of(self._kube, revision, what_for=what_for)
            self._content = revision.name, content
        return self._content[1]


def readiness_lines(objects: Sequence[LiveObject]) -> list[str]:
    """As text; nothing where there are no objects."""
    if not objects:
        return []
    waiting = [each for each in objects if each.state != "Ready"]
    head = f"{len(objects) - len(waiting)} of {len(objects)} objects ready"
    named = [f"  waits for {key_of(each.desired)}: {_reason(each)}" for each in waiting[:SHOWN]]
    more = [f"  and {len(waiting) - SHOWN} more"] if len(waiting) > SHOWN else []
    return [head, *named, *more]


def _reason(found: LiveObject) -> str:
    return (found.fault.splitlines() or ["is being deleted"])[0]
