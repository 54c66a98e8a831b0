"""What is kept of the objects of one kind, by a list and a watch that end when they cannot go on.

Whoever needs the objects calls `start` before each use, and what ended (the kind is gone, or may
not be read, or could not be listed) is then listed anew. So a kind that nobody serves costs
nothing. A watch that is cut goes on where it was. What was known stays known, unless the kind
itself is gone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from api.objects import GVK, KubeObject, metadata, name_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError, GoneError, InvalidError, NotFoundError

SHORTEST_WATCH_SECONDS = 1.0
"""A server that ends watches at once is asked this often, and no more."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class Followed(Generic[T]):
    """`objects` by name as last seen, each as `keep` has it."""

    def __init__(
        self,
        client: KubeClient,
        gvk: GVK,
        keep: Callable[[KubeObject], T],
        changed: Callable[[], Awaitable[None]],
        *,
        namespace: str = "",
        labels: str = "",
    ) -> None:
        """`changed` is awaited after each change of `objects`."""
        self.gvk = gvk
        self.objects: dict[str, T] = {}
        self._client = client
        self._keep = keep
        self._changed = changed
        self._scope = (gvk, namespace)
        self._labels = labels
        self._task: asyncio.Task[None] | None = None
        self._listed = asyncio.Event()
        self._version = ""
        self._problem = ""

    @property
    def running(self) -> bool:
        """Whether changes are being followed."""
        return self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Follows the kind, if that is not so already; waits for the first list or its failure."""
        if not self.running:
            self._listed.clear()
            self._task = asyncio.create_task(self._follow())
        await self._listed.wait()

    async def close(self) -> None:
        """Stops."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        try:
            await self._list_and_watch()
        except NotFoundError:
            await self._replace({})
        except ApiError as error:
            self._report(error)
        except Exception:
            log.exception("%s is not followed any more", self.gvk.kind)
        finally:
            self._listed.set()

    async def _list_and_watch(self) -> None:
        """Goes on until it is refused, or the first list cannot be had. Raises ApiError."""
        loop = asyncio.get_running_loop()
        self._version = ""
        while True:
            begun = loop.time()
            try:
                if not self._version:
                    await self._list()
                await self._watch()
            except GoneError:
                self._version = ""
            except (ForbiddenError, InvalidError, NotFoundError):
                raise
            except ApiError:
                if not self._listed.is_set():
                    raise
            await asyncio.sleep(max(0.0, begun + SHORTEST_WATCH_SECONDS - loop.time()))

    def _report(self, error: ApiError) -> None:
        """Says what is wrong, once."""
        if error.message != self._problem:
            known = f"the {len(self.objects)} known ones count" if self.objects else "none counts"
            log.warning("%s cannot be read, %s: %s", self.gvk.kind, known, error)
        self._problem = error.message

    async def _list(self) -> None:
        items, self._version = await self._client.list_all(*self._scope, labels=self._labels)
        self._problem = ""
        await self._replace({name_of(item): self._keep(item) for item in items})
        self._listed.set()

    async def _watch(self) -> None:
        """Follows changes until the server ends the watch."""
        events = self._client.watch(
            *self._scope, resource_version=self._version, labels=self._labels
        )
        async for event in events:
            obj = event["object"]
            self._version = metadata(obj).get("resourceVersion") or self._version
            await self._note(event["type"], obj)

    async def _note(self, kind: str, obj: KubeObject) -> None:
        if kind == "BOOKMARK":
            return
        objects = {name: kept for name, kept in self.objects.items() if name != name_of(obj)}
        if kind != "DELETED":
            objects[name_of(obj)] = self._keep(obj)
        await self._replace(objects)

    async def _replace(self, objects: dict[str, T]) -> None:
        self.objects = objects
        await self._changed()
