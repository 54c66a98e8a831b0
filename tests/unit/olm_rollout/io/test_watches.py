"""The watches of managed objects when the API server refuses, breaks and comes back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from api.objects import GVK, KubeObject, ObjectKey
from olm_rollout.io import watches as module
from olm_rollout.io.watches import FEW, ManagedWatches, Scope, _Watch, few_of, scope_of
from olm_runtime.kube.client import INITIAL_EVENTS_END
from olm_runtime.kube.errors import ApiError, ForbiddenError, GoneError
from olm_runtime.watch import informer
from olm_runtime.watch.informer import Informer
from tests.cycles import never_looked_for
from tests.unit.olm_rollout.values import APPLIER, GROUP, KIND

OWNER = (KIND, "ext")
CONFIG_MAP = GVK("", "v1", "ConfigMap")
DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
ROLE = GVK("rbac.authorization.k8s.io", "v1", "ClusterRole")
SCOPE = (CONFIG_MAP, "ns", "")
ITSELF = ObjectKey(CONFIG_MAP, "ns", "")


def obj(name: str, *, fields: str = "a", gvk: GVK = CONFIG_MAP) -> KubeObject:
    entry = {"manager": GROUP, "operation": "Apply", "fieldsV1": fields}
    meta = {"name": name, "namespace": "ns", "uid": name, "managedFields": [entry]}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": meta}


def key(name: str, gvk: GVK = CONFIG_MAP) -> ObjectKey:
    return ObjectKey(gvk, "ns", name)


class World:
    """Plays the API server: what a list shows, how a watch is answered, what it sends."""

    def __init__(self) -> None:
        self.objects: list[KubeObject] = []
        self.list_error: Exception | None = None
        self.watch_error: Exception | None = None
        self.answers: asyncio.Queue[tuple[str, KubeObject] | Exception] = asyncio.Queue()
        self.lists = 0
        self.watches = 0
        self.asked: list[str] = []
        self.metadata_only: bool | None = None

    def sends_initial_events(self, _: GVK) -> bool:
        return True

    async def list_all(
        self, *_: Any, labels: str, fields: str, metadata_only: bool, **__: Any
    ) -> tuple[list[KubeObject], str]:
        self.metadata_only = metadata_only
        assert labels == (f"{GROUP}/owner-kind={KIND},{GROUP}/owner-name=ext")
        self.lists += 1
        self.asked.append(fields)
        if self.list_error:
            raise self.list_error
        return list(self.objects), "1"

    async def watch(
        self, *_: Any, opened: Callable[[], None], fields: str, initial: bool, **__: Any
    ) -> AsyncIterator[dict[str, Any]]:
        self.watches += 1
        self.asked.append(fields)
        if self.watch_error:
            raise self.watch_error
        opened()
        if initial:
            for each in self.objects:
                yield {"type": "ADDED", "object": each}
            end = {"resourceVersion": "1", "annotations": {INITIAL_EVENTS_END: "true"}}
            yield {"type": "BOOKMARK", "object": {"metadata": end}}
        while True:
            answer = await self.answers.get()
            if isinstance(answer, Exception):
                raise answer
            yield {"type": answer[0], "object": answer[1]}


class Notified:
    """What was notified, in order; another can be waited for."""

    def __init__(self) -> None:
        self.keys: list[ObjectKey] = []
        self._changed = asyncio.Event()

    def __call__(self, owner: tuple[str, str], key: ObjectKey) -> None:
        assert owner == OWNER
        self.keys.append(key)
        self._changed.set()

    async def until(self, *keys: ObjectKey) -> None:
        while self.keys != list(keys):
            self._changed.clear()
            await self._changed.wait()
        self.keys.clear()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informer, "SHORTEST_WATCH_SECONDS", 0.001)
    monkeypatch.setattr(module, "LONGEST_RETRY_SECONDS", 0.001)


@asynccontextmanager
async def watching(
    world: World, *, scope: Scope = SCOPE, patience: float = 30.0
) -> AsyncIterator[tuple[ManagedWatches, Notified]]:
    notified = Notified()
    watches = ManagedWatches(notified, APPLIER)
    try:
        async with asyncio.timeout(60):
            watches.ensure(OWNER, world, [scope], every_change_of=DEPLOYMENT.__eq__)  # type: ignore[arg-type]
            await watches.settle(OWNER, patience)
            yield watches, notified
    finally:
        await watches.close()


async def quiet() -> None:
    await asyncio.sleep(0.01)


async def test_what_is_there_at_first_rings_nobody_who_waited_for_it() -> None:
    world = World()
    world.objects = [obj("a")]
    async with watching(world) as (watches, notified):
        await quiet()
        view = watches.store(OWNER, SCOPE)
        assert view is not None
        assert view.get("a", "ns") is not None
        assert notified.keys == []
        assert watches.problems(OWNER) == []


async def test_changes_of_ours_ring_and_others_do_not() -> None:
    world = World()
    world.objects = [obj("a")]
    async with watching(world) as (_, notified):
        world.answers.put_nowait(("MODIFIED", obj("a")))
        world.answers.put_nowait(("MODIFIED", obj("a", fields="b")))
        world.answers.put_nowait(("BOOKMARK", {"metadata": {"resourceVersion": "5"}}))
        world.answers.put_nowait(("ADDED", obj("b")))
        world.answers.put_nowait(("DELETED", obj("a")))
        await notified.until(key("a"), key("b"), key("a"))


@pytest.mark.parametrize("name", ["", "a"])
async def test_a_watch_that_was_stopped_is_gone_at_once(name: str) -> None:
    world = World()
    world.objects = [obj("a")]
    with never_looked_for() as more_of:
        async with watching(world, scope=(CONFIG_MAP, "ns", name)) as (watches, notified):
            assert more_of(Informer, _Watch) == ["Informer", "_Watch"]
            watches.stop(OWNER)
            await quiet()
            assert more_of(Informer, _Watch) == []
            assert notified.keys == []


async def test_kinds_that_have_health_ring_whenever_their_status_may_have_changed() -> None:
    world = World()
    deployment = obj("d", gvk=DEPLOYMENT)
    world.objects = [deployment]
    async with watching(world, scope=(DEPLOYMENT, "ns", "")) as (_, notified):
        world.answers.put_nowait(("MODIFIED", deployment))
        await notified.until(key("d", DEPLOYMENT))


async def test_kinds_that_have_health_are_seen_whole_and_probed() -> None:
    world = World()
    ready = [{"type": "Available", "status": "True"}]
    works = obj("works", gvk=DEPLOYMENT) | {"status": {"conditions": ready}}
    world.objects = [works, obj("fails", gvk=DEPLOYMENT)]
    async with watching(world, scope=(DEPLOYMENT, "ns", "")) as (watches, notified):
        assert not world.metadata_only
        seen = {each: watches.sighting(OWNER, key(each, DEPLOYMENT)) for each in ("works", "fails")}
        assert {each: found and found.works for each, found in seen.items()} == {
            "works": True,
            "fails": False,
        }
        world.answers.put_nowait(("MODIFIED", works | {"status": {}}))
        await notified.until(key("works", DEPLOYMENT))
        found = watches.sighting(OWNER, key("works", DEPLOYMENT))
        assert found is not None
        assert not found.works


async def test_of_other_kinds_and_definitions_only_metadata_is_asked_for() -> None:
    for gvk in (CONFIG_MAP, DEFINITION):
        world = World()
        async with watching(world, scope=(gvk, "ns", "")):
            assert world.metadata_only


@pytest.mark.parametrize("where", ["list_error", "watch_error"])
async def test_a_denied_watch_keeps_nobody_waiting_and_says_so(where: str) -> None:
    world = World()
    setattr(world, where, ForbiddenError("forbidden"))
    begun = asyncio.get_running_loop().time()
    async with watching(world) as (watches, notified):
        assert asyncio.get_running_loop().time() - begun < 1
        await quiet()
        assert watches.problems(OWNER) == ["cannot watch ConfigMap: forbidden"]
        assert watches.store(OWNER, SCOPE) is None
        notified.keys.clear()
        setattr(world, where, None)
        await notified.until(ITSELF)
        assert watches.problems(OWNER) == []
        assert watches.store(OWNER, SCOPE) is not None


async def test_what_happened_while_a_watch_was_broken_rings() -> None:
    world = World()
    world.objects = [obj("gone"), obj("same"), obj("changed")]
    async with watching(world) as (watches, notified):
        await quiet()
        world.watch_error = world.list_error = ApiError("cannot reach")
        world.answers.put_nowait(ApiError("cut"))
        await notified.until(ITSELF)
        assert watches.problems(OWNER) == ["cannot watch ConfigMap: cannot reach"]
        world.objects = [obj("same"), obj("changed", fields="b"), obj("new")]
        world.watch_error = world.list_error = None
        await notified.until(key("changed"), key("new"), key("gone"), ITSELF)


async def test_who_waits_for_objects_to_go_is_notified_once_with_the_last_of_them() -> None:
    world = World()
    world.objects = [obj("a"), obj("b"), obj("c")]
    gone: list[frozenset[ObjectKey]] = []
    both, one = frozenset({key("a"), key("b")}), frozenset({key("a")})
    async with watching(world) as (watches, _):
        for who, names in (("both", "abx"), ("one", "a"), ("never there", "x")):
            watches.call_when_deleted(OWNER, who, map(key, names), gone.append)
        for name in "ca":
            world.answers.put_nowait(("DELETED", obj(name)))
        await quiet()
        assert gone == [one]
        for event in ("DELETED", "ADDED", "DELETED"):
            world.answers.put_nowait((event, obj("b")))
        await quiet()
        assert gone == [one, both]


async def test_a_cut_connection_is_taken_up_without_a_word() -> None:
    world = World()
    async with watching(world) as (watches, notified):
        world.answers.put_nowait(ApiError("cut"))
        world.answers.put_nowait(("ADDED", obj("a")))
        await notified.until(key("a"))
        assert watches.problems(OWNER) == []
        assert (world.lists, world.watches) == (1, 2)


async def test_a_version_that_is_too_old_is_listed_again() -> None:
    world = World()
    async with watching(world) as (_, notified):
        world.objects = [obj("a")]
        world.answers.put_nowait(GoneError("too old"))
        await notified.until(key("a"))
        assert world.lists == 2


async def test_an_error_that_nobody_thought_of_does_not_end_the_watch() -> None:
    world = World()
    world.list_error = KeyError("a bug")
    async with watching(world) as (watches, notified):
        assert watches.problems(OWNER) == ["cannot watch ConfigMap: internal error"]
        await quiet()
        notified.keys.clear()
        world.list_error = None
        await notified.until(ITSELF)


async def test_a_list_that_came_too_late_for_who_waited_rings() -> None:
    world = World()
    answered = asyncio.Event()

    async def slow(*_: Any, **__: Any) -> tuple[list[KubeObject], str]:
        await answered.wait()
        return [obj("a")], "1"

    world.list_all = slow  # type: ignore[method-assign]
    async with watching(world, patience=0.005) as (watches, notified):
        assert watches.store(OWNER, SCOPE) is None
        answered.set()
        await notified.until(key("a"))
        assert watches.store(OWNER, SCOPE) is not None


async def test_watches_end_with_their_owner_and_with_what_it_no_longer_has() -> None:
    before = len(asyncio.all_tasks())
    async with watching(World()) as (watches, _):
        watches.ensure(OWNER, World(), [(DEPLOYMENT, "ns", "")])  # type: ignore[arg-type]
        assert len(asyncio.all_tasks()) == before + 2
        watches.keep_only(OWNER, [SCOPE])
        await quiet()
        assert len(asyncio.all_tasks()) == before + 1
        watches.stop(OWNER)
        await quiet()
        assert len(asyncio.all_tasks()) == before


def role(name: str) -> ObjectKey:
    return ObjectKey(ROLE, "", name)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param([role("a"), role("b")], {(ROLE, "", "a"), (ROLE, "", "b")}, id="few"),
        pytest.param([role(f"r{i}") for i in range(FEW + 1)], {(ROLE, "", "")}, id="many"),
        pytest.param([key("a")], {(CONFIG_MAP, "ns", "a")}, id="the only one in a namespace"),
        pytest.param([key("a"), key("b")], {SCOPE}, id="two in a namespace"),
    ],
)
def test_objects_are_watched_by_name_where_they_are_few(
    keys: list[ObjectKey], expected: set[Scope]
) -> None:
    assert {scope_of(each, few_of(keys)) for each in keys} == expected


async def test_a_watch_of_one_name_asks_for_it_and_shows_it() -> None:
    world = World()
    found = obj("a", gvk=ROLE)
    del found["metadata"]["namespace"]
    world.objects = [found]
    async with watching(world, scope=(ROLE, "", "a")) as (watches, _):
        await quiet()
        assert world.asked == ["metadata.name=a"], "the watch sends what there is"
        assert watches.sighting(OWNER, role("a")) is not None
        assert watches.sighting(OWNER, role("b")) is None


async def test_a_watch_of_one_name_goes_on_until_the_object_is_gone() -> None:
    world = World()
    found = obj("a", gvk=ROLE)
    del found["metadata"]["namespace"]
    world.objects = [found]
    async with watching(world, scope=(ROLE, "", "a")) as (watches, notified):
        watches.keep_only(OWNER, [SCOPE])
        assert watches.sighting(OWNER, role("a")) is not None
        world.answers.put_nowait(("DELETED", found))
        await notified.until(role("a"))
        watches.keep_only(OWNER, [SCOPE])
        assert watches.running() == (0, 0)
