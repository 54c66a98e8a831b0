"""Where graphs come from: each source is looked at again and again, by itself."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

from cluster_version.graph_data.files import GraphData
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.update_service.counts import Looks
from cluster_version.update_service.graphs import ServedGraphs
from olm_runtime.errors import OLMError, TerminalError

FIRST_RETRY_SECONDS = 2.0
"""After a look that failed; twice as long each time, up to the source's own pause."""

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Source(Generic[T]):
    """A part of what is served.

    look     gives it when there is something new, else None
    seconds  from one look to the next
    before   what was known before the process began, for when the first look fails
    fault    how the last look failed; empty if it did not
    """

    name: str
    look: Callable[[], Awaitable[T | None]]
    seconds: float
    before: Callable[[], Awaitable[T | None]] | None = None
    value: T | None = None
    fault: str = ""


class Sources:
    """Follows the graph data and the registries, and serves what they give together."""

    def __init__(
        self,
        data: Source[GraphData],
        registries: Sequence[Source[Sequence[GraphRelease]]],
        served: ServedGraphs,
    ) -> None:
        self._data = data
        self._registries = registries
        self._served = served
        self._turn = asyncio.Lock()
        self.looks = Looks()

    def start(self, group: asyncio.TaskGroup) -> None:
        """Follows all of them, until cancelled. What a person has to mend ends it at the start."""
        group.create_task(self._follow(self._data))
        for each in self._registries:
            group.create_task(self._follow(each))

    async def _follow(self, source: Source[T]) -> NoReturn:
        failures = 0
        while True:
            try:
                await self._look(source)
                failures = 0
            except OLMError as error:
                self.looks.failed[source.name] += 1
                if isinstance(error, TerminalError) and self._served.releases is None:
                    raise
                if (fault := error.describe()) != source.fault:
                    log.warning("%s: %s", source.name, fault)
                source.fault = fault
                failures += 1
                await self._remember(source)
            again = FIRST_RETRY_SECONDS * 2 ** min(failures - 1, 16) if failures else source.seconds
            await asyncio.sleep(min(again, source.seconds))

    async def _look(self, source: Source[T]) -> None:
        self.looks.all[source.name] += 1
        await self._take(source, source.look)
        source.fault = ""
        self.looks.succeeded_at[source.name] = time.time()

    async def _remember(self, source: Source[T]) -> None:
        """Serves what was known before, until the source answers."""
        if source.value is not None or source.before is None:
            return
        try:
            await self._take(source, source.before)
        except OLMError as error:
            log.warning("%s as it was before: %s", source.name, error.describe())

    async def _take(self, source: Source[T], look: Callable[[], Awaitable[T | None]]) -> None:
        found = await look()
        if found is not None:
            source.value = found
            await self._serve()

    async def _serve(self) -> None:
        """Serves what there is, once every source has given something. Raises GraphDataError."""
        async with self._turn:
            data = self._data.value
            scanned = [each.value for each in self._registries]
            if data is None or None in scanned:
                return
            releases = [release for found in scanned for release in found or ()]
            await self._served.replace(lambda: data.graphs(releases))
            log.info("serving the graph of %d releases", self._served.releases)
