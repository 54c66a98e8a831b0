"""What an informer asks for, and when it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from api.objects import GVK, KubeObject, name_of
from olm_runtime.kube.client import INITIAL_EVENTS_END
from olm_runtime.kube.errors import (
    ApiError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
)
from olm_runtime.watch import followed as followed_module
from olm_runtime.watch import informer as module
from olm_runtime.watch.followed import Followed
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Store

THING = GVK("example.com", "v1", "Thing")
PATIENCE = 60.0


def thing(name: str, version: int) -> KubeObject:
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)}}


class Server:
    """Answers lists and watches as told, and notes how it was asked."""

    def __init__(self) -> None:
        self.lists: asyncio.Queue[tuple[list[KubeObject], str] | Exception] = asyncio.Queue()
        self.events: asyncio.Queue[tuple[str, KubeObject] | Exception] = asyncio.Queue()
        self.asked: list[str] = []
        self.refusal: ApiError | None = None
        self.silent: set[GVK] = set()

    def sends_initial_events(self, gvk: GVK) -> bool:
        return gvk not in self.silent

    def note_no_initial_events(self, gvk: GVK) -> None:
        self.silent.add(gvk)

    async def list_all(
        self, *_: Any, not_older_than: str, **__: Any
    ) -> tuple[list[KubeObject], str]:
        self.asked.append(f"list {not_older_than}")
        found: tuple[list[KubeObject], str] = _given(await self.lists.get())
        return found

    async def watch(
        self,
        *_: Any,
        resource_version: str,
        opened: Callable[[], None],
        initial: bool = False,
        **__: Any,
    ) -> AsyncIterator[dict[str, Any]]:
        self.asked.append(f"{'stream' if initial else 'watch'} {resource_version}")
        if self.refusal is not None:
            raise self.refusal
        opened()
        while True:
            kind, obj = _given(await self.events.get())
            yield {"type": kind, "object": obj}


def _given(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in (module, followed_module):
        monkeypatch.setattr(each, "SHORTEST_WATCH_SECONDS", 0.001)


def names(store: Store[KubeObject]) -> list[str]:
    return [name_of(obj) for obj in store.objects()]


def whole(obj: KubeObject) -> KubeObject:
    return obj


@pytest.mark.parametrize(("cached", "first"), [(True, "0"), (False, "")])
async def test_no_list_is_older_than_what_was_seen(cached: bool, first: str) -> None:
    server, store = Server(), Store(whole)
    selection = Selection(THING, cached=cached)
    informer = Informer(server, selection, store, Hooks())  # type: ignore[arg-type]
    task = asyncio.create_task(informer.run())
    for answer in (([thing("a", 1)], "5"), ([thing("b", 8)], "9"), ApiError("away")):
        server.lists.put_nowait(answer)
    for event in (
        ("BOOKMARK", {"metadata": {"resourceVersion": "6"}}),
        ApiError("cut"),
        ("ADDED", thing("b", 7)),
        GoneError("too old"),
        GoneError("too old"),
    ):
        server.events.put_nowait(event)
    async with asyncio.timeout(PATIENCE):
        while not informer.problem:  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
    task.cancel()
    assert server.asked[:6] == [
        f"list {first}",
        "watch 5",
        "watch 6",
        "list 7",
        "watch 9",
        "list 9",
    ]
    assert informer.problem == "away"
    assert names(store) == ["b"]


STREAMED = Selection(THING, fields="metadata.name=a", cached=True, streamed=True)
END = {"metadata": {"resourceVersion": "5", "annotations": {INITIAL_EVENTS_END: "true"}}}


@asynccontextmanager
async def informed(server: Server) -> AsyncIterator[Informer[KubeObject]]:
    """What is there first may be sent by the watch."""
    informer = Informer(server, STREAMED, Store(whole), Hooks())  # type: ignore[arg-type]
    task = asyncio.create_task(informer.run())
    async with asyncio.timeout(PATIENCE):
        yield informer
    task.cancel()


async def test_what_there_is_may_be_the_first_events_of_the_watch() -> None:
    server = Server()
    async with informed(server) as informer:
        server.events.put_nowait(("ADDED", thing("a", 2)))
        while server.events.qsize():  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
        assert not informer.settled.is_set(), "more may follow"
        assert names(informer.store) == []
        server.events.put_nowait(("BOOKMARK", END))
        await informer.settled.wait()
        assert names(informer.store) == ["a"]
        server.events.put_nowait(("DELETED", thing("a", 6)))
        while informer.store.objects():  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
        for error in (ApiError("cut"), GoneError("too old")):
            server.events.put_nowait(error)
        server.lists.put_nowait(([thing("a", 7)], "8"))
        while not informer.store.objects():  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
    assert server.asked == ["stream 0", "watch 6", "list 6", "watch 8"]


async def test_a_server_that_does_not_tell_what_there_is_is_asked_for_lists() -> None:
    server = Server()
    server.refusal = InvalidError("sendInitialEvents is forbidden")
    for _ in range(2):
        server.lists.put_nowait(([thing("a", 1)], "5"))
        async with informed(server) as informer:
            await informer.settled.wait()
            assert names(informer.store) == ["a"]
    assert [each for each in server.asked if each.split()[0] != "watch"] == [
        "stream 0",
        "list 0",
        "list 0",
    ]


async def test_a_server_that_never_says_that_it_sent_all_is_asked_for_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "INITIAL_SECONDS", 0.01)
    server = Server()
    server.lists.put_nowait(([thing("a", 1)], "5"))
    async with informed(server) as informer:
        await informer.settled.wait()
        assert names(informer.store) == ["a"]
        while len(server.asked) < 3:  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
    assert server.asked == ["stream 0", "list 0", "watch 5"]


async def test_a_watch_that_is_refused_is_reported_by_the_list() -> None:
    server = Server()
    server.refusal = ForbiddenError("no")
    server.lists.put_nowait(ForbiddenError("may not list"))
    async with informed(server) as informer:
        await informer.settled.wait()
        assert informer.problem == "may not list"


async def test_an_error_that_is_the_end_is_raised() -> None:
    server = Server()
    hooks = Hooks(ends=lambda error: isinstance(error, ForbiddenError))
    informer = Informer(server, Selection(THING), Store(whole), hooks)  # type: ignore[arg-type]
    server.lists.put_nowait(ApiError("away"))
    server.lists.put_nowait(ForbiddenError("no"))
    with pytest.raises(ForbiddenError):
        await asyncio.wait_for(informer.run(), PATIENCE)
    assert server.asked == ["list ", "list "]


async def test_what_is_needed_is_listed_anew_after_it_ended() -> None:
    server, changes = Server(), asyncio.Queue[None]()

    async def changed() -> None:
        changes.put_nowait(None)

    kind = Followed(server, Selection(THING), whole, changed)  # type: ignore[arg-type]
    async with asyncio.timeout(PATIENCE):
        server.lists.put_nowait(([thing("b", 2), thing("a", 1)], "5"))
        await kind.start()
        assert kind.running
        assert list(kind.by_name()) == ["a", "b"]
        server.refusal = ForbiddenError("not any more")
        server.events.put_nowait(ApiError("cut"))
        while kind.running:  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
        assert list(kind.by_name()) == ["a", "b"], "what was known stays known"
        server.lists.put_nowait(NotFoundError("no such kind"))
        await kind.start()
        assert kind.by_name() == {}
        server.refusal = None
        server.lists.put_nowait(([thing("a", 7)], "8"))
        while not kind.running:
            await kind.start()
        assert list(kind.by_name()) == ["a"]
    await kind.close()
    assert changes.qsize() >= 3


async def test_whoever_waits_is_not_notified_of_a_list_that_another_has_only_begun() -> None:
    server = Server()

    async def changed() -> None:
        pass

    kind = Followed(server, Selection(THING), whole, changed)  # type: ignore[arg-type]

    async def start(times: int) -> bool:
        for _ in range(times):
            await kind.start()
        return kind.running

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        twice, once = group.create_task(start(2)), group.create_task(start(1))
        for _ in range(2):
            server.lists.put_nowait(ApiError("away"))
    assert not once.result()
    assert not twice.result()


async def test_of_many_and_large_objects_only_what_is_wanted_is_kept() -> None:
    server, store = Server(), Store(whole)
    selection = Selection(
        THING, page_size=2, keep=lambda obj: {"metadata": obj["metadata"], "seen": True}
    )
    informer = Informer(server, selection, store, Hooks())  # type: ignore[arg-type]
    task = asyncio.create_task(informer.run())
    server.lists.put_nowait(([], "1"))
    server.events.put_nowait(("ADDED", {**thing("a", 2), "spec": "long"}))
    server.events.put_nowait(GoneError("compacted"))
    server.lists.put_nowait(([thing("b", 3)], "4"))
    server.events.put_nowait(("ADDED", {**thing("c", 5), "spec": "long"}))
    async with asyncio.timeout(PATIENCE):
        while store.get("c") is None:  # noqa: ASYNC110 - it signals nobody
            await asyncio.sleep(0.001)
    assert server.asked == ["list ", "watch 1", "list ", "watch 4"]
    assert store.get("c") == {**thing("c", 5), "seen": True}
    task.cancel()
