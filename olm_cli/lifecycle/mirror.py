"""A store of all objects of some kinds, updated by watches."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any

from api.objects import GVK, KubeObject, metadata, name_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError

AGAIN_SECONDS = 2.0
QUIET_SECONDS = 0.1
"""Changes within this time are yielded together."""

Objects = Mapping[GVK, Sequence[KubeObject]]
"""By kind, in the order of their names."""


class Mirror:
    """Lists and watches cluster-scoped kinds; `fault` is why a watch does not run, or empty."""

    def __init__(self, kube: KubeClient, kinds: Iterable[GVK]) -> None:
        self._kube = kube
        self._objects: dict[GVK, dict[str, KubeObject]] = {kind: {} for kind in kinds}
        self._changed = asyncio.Event()
        self.fault = ""

    async def states(self) -> AsyncGenerator[Objects, None]:
        """All objects now, and again whenever one changed, without end.

        Raises ApiError if the first list fails, or where a kind may not be read.
        """
        versions = {kind: await self._list(kind) for kind in self._objects}
        tasks = [
            asyncio.create_task(self._follow(kind, version)) for kind, version in versions.items()
        ]
        try:
            while True:
                self._changed.clear()
                yield self._now()
                await self._next_change(tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _now(self) -> Objects:
        return {
            kind: [found[name] for name in sorted(found)] for kind, found in self._objects.items()
        }

    async def _list(self, kind: GVK) -> str:
        found, version = await self._kube.list_all(kind)
        self._objects[kind] = {name_of(obj): obj for obj in found}
        return version

    async def _next_change(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Returns when something changed. Raises what ended a task; tasks end only by errors."""
        change = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait([change, *tasks], return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()
        for task in tasks:
            if task.done():
                task.result()
        await asyncio.sleep(QUIET_SECONDS)

    async def _follow(self, kind: GVK, version: str) -> None:
        """Watches one kind; lists it anew after any error of a watch."""
        while True:
            try:
                if not version:
                    version = await self._list(kind)
                    self._set_fault("")
                async for event in self._kube.watch(kind, resource_version=version):
                    version = str(metadata(event["object"])["resourceVersion"])
                    self._take(kind, event)
            except ForbiddenError:
                raise
            except ApiError as error:
                version = ""
                self._set_fault(error.message)
                await asyncio.sleep(AGAIN_SECONDS)

    def _take(self, kind: GVK, event: Mapping[str, Any]) -> None:
        obj = event["object"]
        if event["type"] == "DELETED":
            self._objects[kind].pop(name_of(obj), None)
        elif event["type"] != "BOOKMARK":
            self._objects[kind][name_of(obj)] = obj
        else:
            return
        self._changed.set()

    def _set_fault(self, fault: str) -> None:
        self.fault = fault
        self._changed.set()
