"""The objects of one kind, watched from the first time that somebody needs them.

Whoever needs them calls `start` before each use, and what ended (the kind is gone, or may not be
read, or could not be listed) is then listed anew. So a kind that nobody serves costs nothing. What
was known stays known, unless the kind itself is gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from api.objects import GVK, KubeObject
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError, InvalidError, NotFoundError
from olm_runtime.watch.informer import SHORTEST_WATCH_SECONDS, Hooks, Informer, Selection
from olm_runtime.watch.store import Store

T = TypeVar("T")

log = logging.getLogger(__name__)


class Followed(Generic[T]):
    """A store that is filled on demand."""

    def __init__(
        self,
        client: KubeClient,
        selection: Selection,
        transform: Callable[[KubeObject], T],
        changed: Callable[[], Awaitable[None]],
        troubled: Callable[[], None] = lambda: None,
    ) -> None:
        """`changed` is awaited as `store` changes; `troubled` is called as `trouble` does."""
        self.store = Store(transform)
        self._selection = selection
        self._client = client
        self._changed = changed
        self._troubled = troubled
        self._informer: Informer[T] | None = None
        self._task: asyncio.Task[None] | None = None
        self._problem = ""

    @property
    def gvk(self) -> GVK:
        """The kind."""
        return self._selection.gvk

    @property
    def running(self) -> bool:
        """Whether the kind is watched."""
        return self._task is not None and not self._task.done()

    @property
    def trouble(self) -> str:
        """Why a watch does not go on for now; empty while it does, and where there is none."""
        return self._informer.problem if self._informer is not None and self.running else ""

    async def start(self) -> None:
        """Watches the kind, if it is not watched; waits for the first list or its failure."""
        if self._informer is None or not self.running:
            hooks = Hooks(
                self._stored,
                changed=self._troubled,
                delay=lambda _: SHORTEST_WATCH_SECONDS,
                ends=self._ends,
            )
            self._informer = Informer(self._client, self._selection, self.store, hooks)
            self._task = asyncio.create_task(self._run(self._informer))
        waited = None
        while waited is not self._informer:  # whoever was notified of an end first has begun anew
            waited = self._informer
            await waited.settled.wait()

    def by_name(self) -> dict[str, T]:
        """What the store has, by name in alphabetical order."""
        return {name: value for (_, name), value in sorted(self.store.items())}

    async def close(self) -> None:
        """Stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _ends(self, error: ApiError) -> bool:
        """What will not pass soon is the end, and so is any error of the first list."""
        lasting = isinstance(error, ForbiddenError | InvalidError | NotFoundError)
        return lasting or self._informer is None or not self._informer.settled.is_set()

    async def _run(self, informer: Informer[T]) -> None:
        try:
            await informer.run()
        except NotFoundError:
            self.store.replace((), "")
            await self._changed()
        except ApiError as error:
            self._report(error)
        finally:
            informer.settled.set()

    async def _stored(self) -> None:
        self._problem = ""
        await self._changed()

    def _report(self, error: ApiError) -> None:
        """Logs what is wrong, once."""
        if error.message != self._problem:
            known = f"the {len(self.store)} known ones count" if len(self.store) else "none counts"
            log.warning("%s cannot be read, %s: %s", self.gvk.kind, known, error)
        self._problem = error.message
