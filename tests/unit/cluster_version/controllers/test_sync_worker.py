"""Rounds after each other: what they are begun with, and when."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import pytest

from cluster_version.controllers.sync_worker import COUNT_SECONDS, SyncWorker, Work
from cluster_version.payload.capabilities import ClusterCapabilities
from cluster_version.payload.contents import Payload
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.release import Release
from cluster_version.payload.task_graph import State
from cluster_version.status.levels import Level
from olm_runtime.errors import OLMError, TransientError

NOTHING = ClusterCapabilities(frozenset(), frozenset(), frozenset())
LONG, SHORT = 1000.0, 0.01


def work(version: str = "1.0.0", **more: object) -> Work:
    manifests = tuple(Manifest(f"{n}", {}) for n in range(4))
    payload = Payload(Release(version, f"image@{version}"), "amd64", manifests, version)
    return replace(Work(payload=payload, owner_uid="uid", capabilities=NOTHING), **more)  # type: ignore[arg-type]


@dataclass
class Step:
    """A round under the test's control."""

    work: Work
    state: State
    attempt: int
    notify: Callable[[], None]
    done: int = 0
    levels: tuple[Level, ...] = ()
    reported: list[OLMError] = field(default_factory=list)
    ended: "asyncio.Future[list[OLMError]]" = field(default_factory=asyncio.Future)
    limit: float = 0.0

    async def run(self, seconds: float) -> list[OLMError]:
        self.limit = seconds
        return await self.ended

    @property
    def begun_as(self) -> tuple[str, State, int]:
        return self.work.payload.release.version, self.state, self.attempt


class World:
    """A worker and the rounds that it begins."""

    def __init__(self, interval: float) -> None:
        self.steps: asyncio.Queue[Step] = asyncio.Queue()
        self.delays: list[float] = []
        self.worker = SyncWorker(
            self._begin, interval=interval, jitter=lambda: 0.5, notify=self.delays.append
        )

    def _begin(self, work: Work, state: State, attempt: int, notify: Callable[[], None]) -> Step:
        step = Step(work, state, attempt, notify)
        self.steps.put_nowait(step)
        return step

    async def next(self) -> Step:
        async with asyncio.timeout(60):
            return await self.steps.get()

    async def none(self) -> None:
        await asyncio.sleep(0.05)
        assert self.steps.empty()


@pytest.fixture
async def begin() -> AsyncIterator[Callable[[float], World]]:
    tasks: list[asyncio.Task[object]] = []

    def run(interval: float) -> World:
        world = World(interval)
        tasks.append(asyncio.create_task(world.worker.run()))
        return world

    yield run
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        assert isinstance(ended, asyncio.CancelledError)


Begin = Callable[[float], World]
FAILED = TransientError("it is not well")


async def test_a_release_is_applied_and_then_reconciled(begin: Begin) -> None:
    world = begin(SHORT)
    await world.none()
    world.worker.take(work(), State.INITIALIZING)
    first = await world.next()
    assert first.begun_as == ("1.0.0", State.INITIALIZING, 0)
    first.done = 4
    first.ended.set_result([])
    second = await world.next()
    assert second.begun_as == ("1.0.0", State.RECONCILING, 0)
    assert (first.limit, second.limit) == (SHORT, 2 * SHORT)
    report = world.worker.report
    assert report is not None
    assert (report.done, report.total, report.completed, report.reconciling) == (4, 4, 1, True)


async def test_nothing_is_done_before_its_time(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.RECONCILING)
    (await world.next()).ended.set_result([])
    await world.none()
    world.worker.wake()
    await world.none()
    world.worker.take(work(generation=2), State.RECONCILING)
    await world.none()
    assert world.worker.report is not None
    assert world.worker.report.work.generation == 2


async def test_what_failed_is_tried_again_and_sooner_when_something_changes(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.UPDATING)
    for attempt in range(3):
        step = await world.next()
        assert step.attempt == attempt
        step.ended.set_result([FAILED])
        await world.none()
        world.worker.wake()


async def test_pauses_after_failures_double_up_to_the_interval(begin: Begin) -> None:
    world = begin(0.16)
    loop, pauses = asyncio.get_running_loop(), []
    world.worker.take(work(), State.UPDATING)
    for _ in range(3):
        step = await world.next()
        begun = loop.time()
        step.ended.set_result([FAILED])
        following = await world.next()
        pauses.append(loop.time() - begun)
        world.steps.put_nowait(following)
    assert pauses[0] >= 0.02
    assert pauses[1] >= 0.04
    assert pauses[2] >= 0.08


async def test_another_release_cuts_a_round_short(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.RECONCILING)
    running = await world.next()
    world.worker.take(work("1.0.1"), State.RECONCILING)
    assert (await world.next()).begun_as == ("1.0.1", State.UPDATING, 0)
    assert running.ended.cancelled()


async def test_an_installation_stays_one_whatever_is_asked_meanwhile(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.INITIALIZING)
    await world.next()
    more = [{"kind": "ConfigMap", "group": "", "namespace": "a", "name": "b", "unmanaged": True}]
    world.worker.take(work(overrides=more), State.INITIALIZING)
    assert (await world.next()).state is State.INITIALIZING


async def test_a_report_is_never_taken_for_one_of_another_release(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.UPDATING)
    (await world.next()).ended.set_result([])
    await world.none()
    world.worker.take(work("1.0.1"), State.UPDATING)
    world.worker.take(work("1.0.1", generation=2), State.UPDATING)
    assert world.worker.report is not None
    assert world.worker.report.work.payload.release.version == "1.0.0"


async def test_a_failure_is_reported_until_a_round_comes_as_far(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.UPDATING)
    step = await world.next()
    step.done = 2
    step.ended.set_result([FAILED])
    await world.none()
    world.worker.wake()
    step = await world.next()
    seen = []
    for done in (1, 2, 3):
        step.done = done
        step.notify()
        assert world.worker.report is not None
        seen.append((world.worker.report.done, len(world.worker.report.errors)))
    assert seen == [(2, 1), (2, 0), (3, 0)]
    assert world.delays == [0.0, 0.0, COUNT_SECONDS]


async def test_what_changed_in_a_round_that_went_well_begins_no_other(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.UPDATING)
    step = await world.next()
    world.worker.wake()
    step.ended.set_result([])
    await world.none()


async def test_what_is_only_reported_does_not_fail_a_round(begin: Begin) -> None:
    world = begin(LONG)
    world.worker.take(work(), State.INITIALIZING)
    step = await world.next()
    step.reported.append(FAILED)
    step.ended.set_result([])
    await world.none()
    assert world.worker.state is State.RECONCILING
    assert world.worker.report is not None
    assert world.worker.report.errors == (FAILED,)


async def test_a_defect_ends_the_worker() -> None:
    world = World(LONG)
    world.worker.take(work(), State.UPDATING)
    running = asyncio.create_task(world.worker.run())
    (await world.next()).ended.set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await running


async def test_a_release_is_recorded_before_any_of_it_is_applied(begin: Begin) -> None:
    """One of its manifests may replace this very process."""
    world = begin(LONG)
    world.worker.take(work(), State.RECONCILING)
    (await world.next()).ended.set_result([])
    world.worker.take(work("1.0.1", verified=True), State.UPDATING)
    step = await world.next()
    await asyncio.sleep(0)
    report = world.worker.report
    assert report is not None
    assert (report.work.image, report.work.verified, report.done) == ("image@1.0.1", True, 0)
    assert world.delays[-1] == 0.0
    world.worker.note_recorded("image@1.0.0")
    await asyncio.sleep(0.05)
    assert step.limit == 0.0, "the status does not name it yet"
    world.worker.note_recorded("image@1.0.1")
    async with asyncio.timeout(60):
        while not step.limit:  # noqa: ASYNC110
            await asyncio.sleep(0)
