"""Watches that die, and kinds that come and go: kopf against a server that answers as told."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from api.objects import GVK, KubeObject, name_of
from e2e.harness.ports import free_port
from olm_runtime.http.health import serve_health
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.watch import kopf_handlers
from olm_runtime.watch.health import WatchHealth, WatchTimes
from olm_runtime.watch.source import Source
from olm_runtime.watch.store import Event, EventType, Store
from olm_runtime.watch.watcher import Watcher
from tests.cycles import never_looked_for

PATIENCE = 60.0
POLL = 0.05
QUICK = WatchTimes(missing=0.1, served=0.2, reopened=1, restarted=2.0, dead=4.0)
STARTED_SECONDS = 3.0
"""kopf has begun anew by then, and seen that its kind is not served."""
ROOT = "/apis/example.com/v1"


def resource(plural: str) -> dict[str, Any]:
    """A kind as discovery lists it."""
    return {
        "name": plural,
        "singularName": plural.removesuffix("s"),
        "kind": plural.removesuffix("s").title(),
        "namespaced": False,
        "verbs": ["list", "watch", "patch"],
    }


def added(name: str) -> bytes:
    """What a watch says of a new object."""
    obj = {"metadata": {"name": name, "uid": name}, "spec": {"bulk": [name]}}
    return json.dumps({"type": "ADDED", "object": obj}).encode() + b"\n"


class Server:
    """What an API server does for its watchers; `answers`: watches are not left without a word."""

    def __init__(self) -> None:
        self.kinds = ["things"]
        self.answers = True
        self.groups = True
        self.empty = False
        self.news = 0
        """How many new objects a watch says at once as it begins."""
        self.watched: list[str] = []
        self.selected: list[str] = []
        """Of each list the selector."""
        self.url = ""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get(ROOT, self._discovery)
        app.router.add_get(ROOT + "/{kind}", self._collection)
        app.router.add_get("/{anything:.*}", self._rest)
        return app

    async def _rest(self, request: web.Request) -> web.Response:
        version = {"groupVersion": "example.com/v1", "version": "v1"}
        group = {"name": "example.com", "versions": [version], "preferredVersion": version}
        known: dict[str, Any] = {
            "/apis": {"groups": [group] if self.groups else []},
            "/api": {"versions": ["v1"]},
            "/api/v1": {"resources": [resource("namespaces")]},  # kopf waits for them
        }
        return web.json_response(known.get(request.path, {}))

    async def _discovery(self, _: web.Request) -> web.Response:
        return web.json_response({"resources": [resource(kind) for kind in self.kinds]})

    async def _collection(self, request: web.Request) -> web.StreamResponse:
        kind = request.match_info["kind"]
        if kind not in self.kinds:
            return web.json_response({"kind": "Status", "code": 404}, status=404)
        if request.query.get("watch") != "true":
            item = {"metadata": {"name": f"one-of-{kind}", "uid": kind}}
            self.selected.append(request.query.get("fieldSelector", ""))
            items = [] if self.empty or self.selected[-1] else [item]
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": items})
        if not self.answers:
            await asyncio.Event().wait()
        self.watched.append(kind)
        stream = web.StreamResponse()
        await stream.prepare(request)
        await stream.write(b"".join(added(f"{kind}-{number}") for number in range(self.news)))
        await asyncio.sleep(float(request.query["timeoutSeconds"]))
        return stream


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made, port = Server(), free_port("127.0.0.1")
    runner = web.AppRunner(made.app(), handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    made.url = f"http://127.0.0.1:{port}"
    yield made
    await runner.cleanup()


class Watched:
    """The stores of some kinds while they are watched."""

    def __init__(self, server: Server, kinds: tuple[str, ...], times: WatchTimes) -> None:
        self.stores = {kind: Store(whole) for kind in kinds}
        self.events: list[Event[KubeObject]] = []
        for store in self.stores.values():
            store.add_event_handler(self.events.append)
        sources = [
            Source(GVK("example.com", "v1", kind.removesuffix("s").title()), kind, store)
            for kind, store in self.stores.items()
        ]
        self.watcher = Watcher(ClusterAccess(server=server.url), sources, times)

    def has(self, kind: str) -> bool:
        return self.stores[kind].get(f"one-of-{kind}") is not None


def whole(obj: KubeObject) -> KubeObject:
    return obj


@asynccontextmanager
async def watching(
    server: Server, *kinds: str, times: WatchTimes = QUICK
) -> AsyncIterator[Watched]:
    watched = Watched(server, kinds, times)
    task = asyncio.create_task(watched.watcher.run())
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(POLL)


async def test_objects_are_listed_by_us_and_not_by_kopf(server: Server) -> None:
    async with watching(server, "things") as watched:
        await until(lambda: server.watched == ["things"] and len(server.selected) == 3)
        assert server.selected == ["", "metadata.name=-", ""]
        assert watched.has("things")


async def test_watches_come_back_with_their_kind(server: Server) -> None:
    async with watching(server, "things") as watched:
        await until(lambda: watched.has("things") and bool(server.watched))
        server.kinds = []
        opened = len(server.watched)
        await until(lambda: watched.watcher.restarts > 0)  # kopf was refused
        await asyncio.sleep(STARTED_SECONDS)
        assert watched.has("things")
        watched.events.clear()
        server.kinds = ["things"]
        await until(lambda: bool(watched.events) and len(server.watched) > opened)


async def test_a_kind_that_comes_later_is_watched_beside_the_others(server: Server) -> None:
    async with watching(server, "things", "others") as watched:
        await until(lambda: watched.has("things"))
        await watched.watcher.synced.wait()
        assert not watched.has("others")
        server.kinds.append("others")
        await until(lambda: watched.has("others"))


async def test_a_kind_that_kopf_overlooked_is_watched_soon(server: Server) -> None:
    """The list of groups may lack one whose kinds are listed already."""
    server.groups = False
    times = WatchTimes(missing=0.1, served=0.2, opening=STARTED_SECONDS)
    async with watching(server, "things", times=times) as watched:
        await until(lambda: watched.has("things"))
        await until(lambda: watched.watcher.restarts > 0)
        assert not server.watched
        server.groups = True
        await until(lambda: bool(server.watched))


async def test_what_was_deleted_while_nobody_watched_is_seen_to_be_gone(server: Server) -> None:
    async with watching(server, "things") as watched:
        await until(lambda: watched.has("things") and bool(server.watched))
        assert watched.watcher.synced.is_set()
        server.kinds = []
        await until(lambda: watched.watcher.restarts > 0)
        server.empty, server.kinds = True, ["things"]
        await until(lambda: not watched.has("things"))
        assert watched.events[-1].type == EventType.DELETED


async def test_a_watch_that_dies_is_begun_anew_and_reported_when_that_does_not_help(
    server: Server,
) -> None:
    port = free_port("127.0.0.1")
    async with watching(server, "things") as watched, aiohttp.ClientSession() as session:
        watcher = watched.watcher
        checks = {"watches": watcher.is_alive}
        health = asyncio.create_task(serve_health(("127.0.0.1", port), alive=checks, ready={}))
        await until(lambda: len(server.watched) > 2)

        async def alive() -> int:
            async with session.get(f"http://127.0.0.1:{port}/healthz") as answer:
                return answer.status

        assert await alive() == 200
        server.answers, restarts = False, watcher.restarts
        await until(lambda: not watcher.is_alive())
        assert await alive() == 503
        assert watcher.restarts > restarts
        server.answers = True
        await until(watcher.is_alive)
        assert await alive() == 200
        health.cancel()
        await asyncio.gather(health, return_exceptions=True)


async def test_it_ends_at_once_amid_news(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """kopf then leaves a task behind, and gives it five seconds: more than there are here."""
    monkeypatch.setattr(kopf_handlers, "ENDING_SECONDS", 4.0)
    server.news = 200
    heard: list[str] = []

    async def watch() -> None:
        stop = asyncio.Event()

        def on_event(_: Source, __: str, obj: KubeObject) -> None:
            heard.append(name_of(obj))
            stop.set()

        source = Source(GVK("example.com", "v1", "Thing"), "things", Store(whole))
        watched = kopf_handlers.Watched([source], on_event, lambda _, *, watch: None, 60)
        await kopf_handlers.watch(ClusterAccess(server=server.url), watched, stop=stop)

    await asyncio.to_thread(asyncio.run, watch())
    assert 0 < len(heard) < server.news


async def test_nobody_holds_an_object_that_was_told_of(server: Server) -> None:
    server.news = 20
    heard: list[str] = []
    stop = asyncio.Event()

    def on_event(_: Source, __: str, obj: KubeObject) -> None:
        heard.append(name_of(obj))

    source = Source(GVK("example.com", "v1", "Thing"), "things", Store(whole))
    watched = kopf_handlers.Watched([source], on_event, lambda _, *, watch: None, 60)
    with never_looked_for():
        watch = asyncio.create_task(
            kopf_handlers.watch(ClusterAccess(server=server.url), watched, stop=stop)
        )
        try:
            await until(lambda: len(heard) == server.news and not _with_bulk())
        finally:
            stop.set()
            await asyncio.gather(watch, return_exceptions=True)


def _with_bulk() -> int:
    """How many objects of the server are in memory."""
    return sum(type(each) is dict and "bulk" in each for each in gc.get_objects())


TIMES = WatchTimes(restarted=90.0, dead=240.0)


def test_what_is_served_and_not_watched_for_long_is_dead() -> None:
    health = WatchHealth(TIMES, 0.0)
    health.looked(["a", "b"], 10.0)
    health.opened("a", 200.0)
    health.looked(["a", "b"], 250.0)
    assert health.to_restart(10.0, 101.0) == ["b"]
    assert health.to_restart(95.0, 101.0) == []
    assert health.to_restart(10.0, 24.0) == []
    assert health.to_restart(10.0, 26.0) == ["b"]
    assert health.dead(250.0) == []
    assert health.dead(251.0) == ["b"]


def test_what_is_not_served_is_nobodys_fault_nor_is_an_api_server_that_is_away() -> None:
    health = WatchHealth(TIMES, 0.0)
    health.looked(["a"], 0.0)
    health.looked([], 200.0)
    assert health.dead(300.0) == []
    health.looked(["a"], 310.0)
    assert health.dead(540.0) == []
    health.looked(["a"], 551.0)
    assert health.dead(551.0) == ["a"]


def test_a_thread_that_looks_no_more_is_dead() -> None:
    health = WatchHealth(TIMES, 0.0)
    health.looked([], 100.0)
    assert health.dead(340.0) == []
    assert health.dead(341.0) == ["whoever looks after the watches"]
