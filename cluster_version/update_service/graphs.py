"""The graphs that are served now, and how others take their place without a gap."""

import asyncio
from collections.abc import Callable

from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.update_service.answers import Answer, Generation, Key
from cluster_version.update_service.questions import NOT_READY


class ServedGraphs:
    """Answers of one generation until those of the next are there."""

    def __init__(self) -> None:
        self._current: Generation | None = None
        self._making: dict[tuple[int, Key], asyncio.Task[Answer]] = {}

    @property
    def releases(self) -> int | None:
        """How many releases there are; None before the first graphs."""
        return None if self._current is None else self._current.graphs.releases

    async def answer(self, key: Key) -> Answer:
        """The answer for a channel and an architecture, made once. Raises RefusalError."""
        generation = self._current
        if generation is None:
            raise NOT_READY
        found = generation.cached(key)
        if found is not None:
            return found
        wanted = (id(generation), key)
        making = self._making.get(wanted)
        if making is None:
            making = self._making[wanted] = asyncio.ensure_future(_make(generation, key))
            making.add_done_callback(lambda _: self._making.pop(wanted))
        return await asyncio.shield(making)

    async def replace(self, build: Callable[[], UpdateGraphs]) -> None:
        """Serves other graphs once all answers are made that were asked for. As `build` raises."""
        generation = Generation(await asyncio.to_thread(build))
        for key in self._current.asked() if self._current else ():
            await _make(generation, key)
        self._current = generation


async def _make(generation: Generation, key: Key) -> Answer:
    answer = await asyncio.to_thread(generation.made, key)
    generation.keep(key, answer)
    return answer
