"""All objects of some kinds, listed and watched."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

from api.objects import GVK, KubeObject, name_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Store

RETRY_SECONDS = 2.0
QUIET_SECONDS = 0.1
"""Changes within this time are yielded together."""

Objects = Mapping[GVK, Sequence[KubeObject]]
"""By kind, in the order of their names."""


class InformerCache:
    """An informer for each of some cluster-scoped kinds."""

    def __init__(self, kube: KubeClient, kinds: Iterable[GVK]) -> None:
        self._changed = asyncio.Event()
        self._informers = {kind: self._informer(kube, kind) for kind in kinds}

    @property
    def fault(self) -> str:
        """Why a kind is not watched; empty while all are."""
        return next(filter(None, (each.problem for each in self._informers.values())), "")

    async def states(self) -> AsyncGenerator[Objects, None]:
        """All objects now, and again whenever one changed, without end.

        Raises ApiError if the first list fails, or where a kind may not be read.
        """
        tasks = [asyncio.create_task(each.run()) for each in self._informers.values()]
        try:
            while not all(each.store.synced for each in self._informers.values()):
                await self._next_change(tasks)
            while True:
                yield self._now()
                await self._next_change(tasks)
                await asyncio.sleep(QUIET_SECONDS)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _informer(self, kube: KubeClient, kind: GVK) -> Informer[KubeObject]:
        store: Store[KubeObject] = Store(lambda obj: obj)

        async def stored() -> None:
            self._changed.set()

        def ends(error: ApiError) -> bool:
            return not store.synced or isinstance(error, ForbiddenError)

        hooks = Hooks(stored, self._changed.set, lambda _: RETRY_SECONDS, ends)
        return Informer(kube, Selection(kind), store, hooks)

    def _now(self) -> Objects:
        return {
            kind: sorted(each.store.objects(), key=name_of)
            for kind, each in self._informers.items()
        }

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
        self._changed.clear()
