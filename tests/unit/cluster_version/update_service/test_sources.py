"""What is served of several sources, of which some may fail."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import orjson
import pytest

from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.files import GraphData
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.update_service.graphs import ServedGraphs
from cluster_version.update_service.sources import Source, Sources
from olm_runtime.errors import TransientError

CHANNELS = {"stable-4.1": frozenset({"4.1.0", "4.1.1"})}


def release(version: str) -> GraphRelease:
    return GraphRelease(version, "amd64", f"r.test/r:{version}")


class Given:
    """A source that gives what a test says, or raises it."""

    def __init__(self, *looks: object) -> None:
        self._looks = list(looks)

    async def look(self) -> object:
        found = self._looks.pop(0) if self._looks else None
        if isinstance(found, Exception):
            raise found
        return found


def sources(served: ServedGraphs, data: Given, *registries: Given) -> Sources:
    def source(name: str, given: Given) -> Source[object]:
        return Source(name, given.look, seconds=0.001)

    scans = [source(f"r{number}", each) for number, each in enumerate(registries)]
    return Sources(source("graph-data", data), scans, served)  # type: ignore[arg-type]


@asynccontextmanager
async def following(followed: Sources) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        followed.start(group)
        yield
        for task in list(group._tasks):
            task.cancel()


async def versions(served: ServedGraphs, wanted: Sequence[str]) -> None:
    """Waits until they are in the graph."""
    found: list[str] = []
    async with asyncio.timeout(30):
        while found != wanted:
            await asyncio.sleep(0.001)
            if served.releases is not None and served._current is not None:
                graph = orjson.loads(served._current.graphs.body("stable-4.1", "amd64"))
                found = [each["version"] for each in graph["nodes"]]


async def test_releases_of_all_sources_are_in_the_graph() -> None:
    served = ServedGraphs()
    data = GraphData(CHANNELS, releases=[release("4.1.0")])
    async with following(sources(served, Given(data), Given([release("4.1.1")]))):
        await versions(served, ["4.1.0", "4.1.1"])


async def test_nothing_is_served_before_every_source_gave_something() -> None:
    served = ServedGraphs()
    registry = Given(*[TransientError("no")] * 3, [release("4.1.1")])
    followed = sources(served, Given(GraphData(CHANNELS)), registry)
    async with following(followed):
        await versions(served, ["4.1.1"])
    assert followed.looks.failed == {"r0": 3}


async def test_what_was_known_before_is_served_until_the_source_answers() -> None:
    served = ServedGraphs()
    data = GraphData(CHANNELS, releases=[release("4.1.0")])
    followed = sources(served, Given(data), Given(*[TransientError("no")] * 3, [release("4.1.1")]))
    followed._registries[0].before = Given([]).look  # type: ignore[assignment]
    seen = []
    replace = served.replace

    async def replaced(build: Callable[[], UpdateGraphs]) -> None:
        await replace(build)
        seen.append(served.releases)

    served.replace = replaced  # type: ignore[method-assign]
    async with following(followed):
        await versions(served, ["4.1.0", "4.1.1"])
    assert seen == [1, 2]


async def test_what_fails_later_leaves_what_is_served() -> None:
    served = ServedGraphs()
    data = Given(
        GraphData(CHANNELS, releases=[release("4.1.0")]),
        GraphDataError("broken"),
        GraphData(CHANNELS, releases=[release("4.1.1")]),
    )
    followed = sources(served, data)
    async with following(followed):
        await versions(served, ["4.1.1"])
    assert followed.looks.failed == {"graph-data": 1}
    assert followed.looks.succeeded_at["graph-data"] > 0


async def test_what_a_person_must_mend_ends_the_start() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        async with asyncio.TaskGroup() as group:
            sources(ServedGraphs(), Given(GraphDataError("broken"))).start(group)
    assert raised.group_contains(GraphDataError, match="broken")


async def test_the_same_fault_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    served = ServedGraphs()
    data = Given(GraphData(CHANNELS), *[GraphDataError("broken")] * 3, GraphData(CHANNELS))
    followed = sources(served, data)
    with suppress(TimeoutError):
        async with following(followed):
            async with asyncio.timeout(30):
                while followed.looks.all["graph-data"] < 6:  # noqa: ASYNC110 - nobody notifies
                    await asyncio.sleep(0.001)
    assert [each.message for each in caplog.records if each.levelname == "WARNING"] == [
        "graph-data: broken"
    ]
