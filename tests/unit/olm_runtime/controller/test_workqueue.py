"""The work queue: which key is handled when, and how often at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import uvloop

from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.workqueue import Backoff, Fairness, WorkQueue
from olm_runtime.errors import TerminalError, TransientError, WaitingError
from olm_runtime.kube.errors import ApiError
from olm_runtime.lanes import Place, Priority
from olm_runtime.outcome import Blocked, Done, Failed, Outcome, Retry, Wait

PATIENCE = 60.0
SOON = 0.001
"""A back-off in these tests: long enough to be a timer, too short to be noticed."""


def quick() -> Backoff:
    return Backoff(lambda: 0.0, first=SOON, longest=SOON)


@asynccontextmanager
async def running(queue: WorkQueue[str]) -> AsyncIterator[None]:
    task = asyncio.create_task(queue.run())
    try:
        async with asyncio.timeout(PATIENCE):
            yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Scripted:
    """Answers each key with the outcomes given for it, then with Done; notes every call."""

    def __init__(self, **script: list[Outcome | Exception]) -> None:
        self.script = script
        self.calls: list[str] = []
        self.reached = asyncio.Condition()

    async def __call__(self, key: str) -> Outcome:
        self.calls.append(key)
        async with self.reached:
            self.reached.notify_all()
        answers = self.script.get(key)
        answer = answers.pop(0) if answers else Done()
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def until(self, holds: Callable[[list[str]], bool]) -> None:
        async with self.reached:
            await self.reached.wait_for(lambda: holds(self.calls))


class Held:
    """Notes each key that is handled, and holds it until the gate opens."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gate = asyncio.Event()

    async def __call__(self, key: str) -> Outcome:
        self.begun.append(key)
        await self.gate.wait()
        return Done()


async def settled() -> None:
    """Lets everything run that can run without a timer."""
    for _ in range(20):
        await asyncio.sleep(0)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(SOON)


async def test_a_key_added_several_times_before_it_is_handled_is_handled_once() -> None:
    handle = Scripted()
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick())
    for _ in range(5):
        queue.add("a")
    assert queue.depth() == 1
    async with running(queue):
        await settled()
    assert handle.calls == ["a"]
    assert queue.depth() == 0


async def test_a_key_is_never_handled_twice_at_once_and_once_more_when_added_meanwhile() -> None:
    active: set[str] = set()
    overlapped: list[str] = []
    calls: list[str] = []
    gate = asyncio.Event()

    async def handle(key: str) -> Outcome:
        if key in active:
            overlapped.append(key)
        active.add(key)
        calls.append(key)
        await gate.wait()
        active.discard(key)
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=4)
    async with running(queue):
        queue.add("a")
        await settled()
        for _ in range(3):
            queue.add("a")
        await settled()
        assert calls == ["a"]
        gate.set()
        await settled()
    assert calls == ["a", "a"]
    assert overlapped == []


async def test_keys_are_handled_by_the_places_that_they_are_given() -> None:
    handle = Scripted()
    places = {"new": Place(Priority.HIGH, 5.0), "begun": Place(Priority.NORMAL, -1.0)}
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=1, place=places.get)
    for key in ("a", "b", "c", "begun", "new"):
        queue.add(key)
    async with running(queue):
        await settled()
    assert handle.calls == ["new", "begun", "a", "c", "b"]


async def test_what_was_begun_goes_on_before_others_whose_urgency_ends_as_they_wait() -> None:
    handle = Scripted()
    places = {key: Place(Priority.HIGH, number) for number, key in enumerate("abcd")}
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=1, place=places.get)
    for key in "bcd":
        queue.add(key)
    places |= {key: Place(Priority.NORMAL, place.since) for key, place in places.items()}
    queue.add("a")
    async with running(queue):
        await settled()
    assert handle.calls == ["d", "a", "b", "c"], "the newest, the oldest, the one that came first"


async def test_what_was_begun_waits_for_nothing_that_was_not() -> None:
    handle = Held()
    places: dict[str, Place] = {}
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=2, place=places.get)
    async with running(queue):
        for key in "abcd":
            queue.add(key)
        await settled()
        assert handle.begun == ["d", "a"]
        places["c"] = Place(Priority.NORMAL, 0.0, begun=True)
        queue.add("c")
        await settled()
        assert handle.begun == ["d", "a", "c"]
        assert queue.depth() == 1
        handle.gate.set()
        await until(lambda: len(handle.begun) == 4)
        assert queue.depth() == 0


async def test_keys_of_low_priority_leave_the_slots_to_others_and_are_handled_too() -> None:
    handle = Held()
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=4)
    async with running(queue):
        for key in "abcdef":
            queue.add(key, priority=Priority.LOW)
        await settled()
        assert handle.begun == ["a", "b"], "half of the slots"
        for key in "1234":
            queue.add(key)
        await settled()
        assert handle.begun == ["a", "b", *"1234"]
        queue.add("f")  # something happened to it
        queue.add("c", priority=Priority.LOW)
        handle.gate.set()
        await until(lambda: len(handle.begun) == 10)
        assert handle.begun.index("f") < handle.begun.index("c")
        assert queue.depth() == 0


async def test_a_key_that_is_added_while_it_is_handled_keeps_its_priority() -> None:
    gate = asyncio.Event()
    begun: list[str] = []

    async def handle(key: str) -> Outcome:
        begun.append(key)
        if key != "a" or len(begun) == 1:
            await gate.wait()
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=4)
    async with running(queue):
        queue.add("a")
        await settled()
        queue.add("a")
        queue.add("a", priority=Priority.LOW)
        for key in "bcd":
            queue.add(key, priority=Priority.LOW)
        await settled()
        assert begun == ["a", "b"]
        gate.set()
        await until(lambda: begun.count("a") == 2)
        assert "d" not in begun


async def test_keys_of_low_priority_wait_for_the_others_of_another_queue() -> None:
    gate = asyncio.Event()
    begun: list[str] = []

    async def handle(key: str) -> Outcome:
        begun.append(key)
        if key == "hurries":
            await gate.wait()
        return Done()

    shared = PriorityGate()
    fairness = Fairness(gate=shared)
    one: WorkQueue[str] = WorkQueue(handle, backoff=quick(), fairness=fairness)
    other: WorkQueue[str] = WorkQueue(handle, backoff=quick(), fairness=fairness)
    async with running(one), running(other):
        one.add("hurries")
        await settled()
        for key in "abc":
            other.add(key, priority=Priority.LOW)
        await settled()
        assert begun == ["hurries", "a"], "one passes at once, the next after a while"
        gate.set()
        await until(lambda: begun == ["hurries", *"abc"])


async def test_a_key_that_hangs_delays_no_other_while_workers_are_left() -> None:
    handled: list[str] = []

    async def handle(key: str) -> Outcome:
        if key == "hangs":
            await asyncio.Event().wait()
        handled.append(key)
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=2)
    async with running(queue):
        queue.add("hangs")
        for key in "abc":
            queue.add(key)
        await settled()
    assert handled == list("abc")


async def test_keys_that_hang_in_every_slot_give_way_to_the_others() -> None:
    hanging: set[str] = set()
    handled: list[str] = []

    async def handle(key: str) -> Outcome:
        if key.startswith("hangs"):
            hanging.add(key)
            await asyncio.Event().wait()
        handled.append(key)
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=8, fairness=Fairness(SOON))
    async with running(queue):
        for number in range(40):
            queue.add(f"hangs-{number}")
        queue.add("prompt")
        await until(lambda: "prompt" in handled)
    assert len(hanging) == 40


async def test_a_key_that_was_slow_starts_beside_the_slots_until_it_is_prompt_again() -> None:
    gate = asyncio.Event()
    calls: list[str] = []

    async def handle(key: str) -> Outcome:
        calls.append(key)
        if key == "slow":
            await gate.wait()
        return Done()

    queue: WorkQueue[str] = WorkQueue(
        handle, backoff=quick(), workers=1, fairness=Fairness(10 * SOON)
    )
    async with running(queue):
        queue.add("slow")
        queue.add("other")  # only after the slow one gave its slot away
        await until(lambda: "other" in calls)
        gate.set()
        await settled()
        gate.clear()
        queue.add("slow")
        queue.add("next")
        await settled()  # without any patience: the slow one takes no slot now
        assert sorted(calls[2:]) == ["next", "slow"]


async def test_what_is_in_flight_is_bounded_also_when_everything_hangs() -> None:
    in_flight: set[str] = set()

    async def handle(key: str) -> Outcome:
        in_flight.add(key)
        await asyncio.Event().wait()
        return Done()

    queue: WorkQueue[str] = WorkQueue(
        handle, backoff=quick(), workers=2, fairness=Fairness(SOON, 3)
    )
    async with running(queue):
        for number in range(20):
            queue.add(str(number))
        await until(lambda: len(in_flight) == 5)
        await asyncio.sleep(20 * SOON)
    assert in_flight == set("01234")
    assert queue.depth() == 15


async def test_a_key_that_is_added_all_the_time_does_not_starve_the_others() -> None:
    handled: list[str] = []

    async def handle(key: str) -> Outcome:
        handled.append(key)
        if key == "busy" and handled.count("busy") < 50:
            queue.add("busy")
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=1)
    async with running(queue):
        queue.add("busy")
        queue.add("patient")
        await until(lambda: "patient" in handled)
    assert handled.index("patient") <= 1


@pytest.mark.parametrize(
    ("first", "again"),
    [
        pytest.param(Retry("no"), True, id="a retry comes again"),
        pytest.param(Wait(SOON), True, id="a wait comes again"),
        pytest.param(Done(requeue_after=SOON), True, id="done with a date comes again"),
        pytest.param(TransientError("no"), True, id="a transient error comes again"),
        pytest.param(WaitingError("no", seconds=SOON), True, id="a waiting error comes again"),
        pytest.param(RuntimeError("bug"), True, id="an unexpected exception comes again"),
        pytest.param(Done(), False, id="done is done"),
        pytest.param(Blocked("Blocked", "no"), False, id="blocked waits for an event"),
        pytest.param(TerminalError("no"), False, id="a terminal error waits for an event"),
    ],
)
async def test_what_comes_again_by_itself(first: Outcome | Exception, *, again: bool) -> None:
    handle = Scripted(a=[first])
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick())
    async with running(queue):
        queue.add("a")
        if again:
            await handle.until(lambda calls: len(calls) == 2)
        else:
            await asyncio.sleep(10 * SOON)
    assert handle.calls == ["a"] * (2 if again else 1)


@pytest.mark.parametrize(
    ("outcome", "seconds"),
    [
        (Retry("busy", after=600.0), 600.0),
        (Retry("busy", within=1.0, after=600.0), 600.0),
        (Retry("busy", after=SOON / 100), SOON / 2),
        (Retry("no", within=SOON / 4), SOON / 4),
    ],
)
async def test_who_wants_to_be_left_alone_is(
    outcome: Retry, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []
    monkeypatch.setattr(WorkQueue, "_add_after", lambda _, key, delay: delays.append(delay))
    queue: WorkQueue[str] = WorkQueue(Scripted(a=[outcome]), backoff=quick())
    async with running(queue):
        queue.add("a")
        await until(lambda: bool(delays))
    assert delays == [seconds]


async def test_an_unexpected_exception_is_logged_with_its_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    handle = Scripted(a=[RuntimeError("a bug")])
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick())
    async with running(queue):
        queue.add("a")
        await handle.until(lambda calls: len(calls) == 2)
    [record] = [r for r in caplog.records if r.levelno == logging.ERROR]
    assert "unexpected failure while handling a" in record.message
    assert record.exc_info is not None
    assert "a bug" in str(record.exc_info[1])


@pytest.mark.parametrize(
    ("errors", "reported"),
    [
        pytest.param([RuntimeError("bug")], 1, id="a fault of the program is told"),
        pytest.param([TerminalError("no")], 1, id="an error of ours that nobody told is told"),
        pytest.param([ApiError("away")], 0, id="a moment without the API server is not"),
        pytest.param(
            [Retry("no bundle"), ApiError("away")], 0, id="nor one after a failure of ours"
        ),
        pytest.param([ApiError("a"), ApiError("b")], 1, id="what it goes on saying is"),
    ],
)
async def test_what_a_handling_raises_is_reported(
    errors: list[Outcome | Exception], *, reported: int
) -> None:
    said: list[tuple[str, Failed]] = []

    async def report(key: str, failed: Failed) -> None:
        said.append((key, failed))

    handle = Scripted(a=[*errors])
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), report=report)
    async with running(queue):
        queue.add("a")
        await handle.until(lambda calls: len(calls) >= len(errors))
        await settled()
    assert [key for key, _ in said] == ["a"] * reported


async def test_a_status_that_cannot_be_written_stops_nothing() -> None:
    async def report(_: str, __: Failed) -> None:
        raise OSError("nor this")

    handle = Scripted(a=[RuntimeError("bug"), RuntimeError("bug")])
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), report=report)
    async with running(queue):
        queue.add("a")
        await handle.until(lambda calls: len(calls) == 3)


async def test_work_that_was_cancelled_by_others_costs_no_worker() -> None:
    async def cancelled_elsewhere() -> None:
        shared = asyncio.ensure_future(asyncio.Event().wait())
        asyncio.get_running_loop().call_soon(shared.cancel)
        await shared

    handled: list[str] = []

    async def handle(key: str) -> Outcome:
        handled.append(key)
        if handled.count("a") == 1 and key == "a":
            await cancelled_elsewhere()
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick(), workers=1)
    async with running(queue):
        queue.add("a")
        await until(lambda: handled.count("a") == 2)


class Clocked:
    """A back-off that notes for how many failures it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def delay(self, failures: int) -> float:
        self.asked.append(failures)
        return SOON


async def test_each_key_backs_off_alone_and_starts_over_after_a_success() -> None:
    backoff = Clocked()
    handle = Scripted(a=[Retry("1"), Retry("2"), Done(), Retry("3")], b=[Retry("4")])
    queue: WorkQueue[str] = WorkQueue(handle, backoff=backoff)  # type: ignore[arg-type]
    async with running(queue):
        queue.add("a")
        await handle.until(lambda calls: calls.count("a") == 3)
        queue.add("b")
        await handle.until(lambda calls: calls.count("b") == 2)
        queue.add("a")
        await handle.until(lambda calls: calls.count("a") == 5)
    assert backoff.asked == [1, 2, 1, 1]


async def test_an_event_cuts_a_back_off_short() -> None:
    handle = Scripted(a=[Retry("no")])
    slow = Backoff(lambda: 0.0, first=3600.0, longest=3600.0)
    queue: WorkQueue[str] = WorkQueue(handle, backoff=slow)
    async with running(queue):
        queue.add("a")
        await settled()
        queue.add("a")
        await handle.until(lambda calls: len(calls) == 2)


async def earlier_appointments() -> None:
    handle = Scripted()
    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick())
    async with running(queue):
        queue.add("a", after=SOON)
        queue.add("a", after=3600.0)
        queue.add("b", after=3600.0)
        queue.add("b", after=SOON)
        await handle.until(lambda calls: sorted(calls) == ["a", "b"])
        queue.add("c", after=3600.0)
        queue.add("c")
        await handle.until(lambda calls: "c" in calls)
        assert queue.depth() == 0


async def test_of_two_appointments_the_earlier_one_stands() -> None:
    await earlier_appointments()


def test_appointments_stand_on_uvloop_too() -> None:
    uvloop.run(earlier_appointments())


async def test_an_event_during_a_failing_run_is_not_lost_to_its_back_off() -> None:
    begun = asyncio.Event()
    go_on = asyncio.Event()
    calls: list[str] = []

    async def handle(key: str) -> Outcome:
        calls.append(key)
        if len(calls) == 1:
            begun.set()
            await go_on.wait()
            return Retry("no")
        return Done()

    slow = Backoff(lambda: 0.0, first=3600.0, longest=3600.0)
    queue: WorkQueue[str] = WorkQueue(handle, backoff=slow)
    async with running(queue):
        queue.add("a")
        await begun.wait()
        queue.add("a")
        go_on.set()
        await until(lambda: len(calls) == 2)


async def test_cancelling_ends_the_work_in_progress() -> None:
    ended = asyncio.Event()

    async def handle(_: str) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return Done()

    queue: WorkQueue[str] = WorkQueue(handle, backoff=quick())
    async with running(queue):
        queue.add("a")
        await settled()
    assert ended.is_set()


Jitter = Callable[[], float]


@pytest.mark.parametrize(
    ("jitter", "failures", "expected"),
    [
        pytest.param(lambda: 0.0, 1, 1.0, id="least jitter halves the first delay"),
        pytest.param(lambda: 0.999, 1, 1.999, id="most jitter stays below the whole delay"),
        pytest.param(lambda: 0.0, 4, 8.0, id="each failure doubles it"),
        pytest.param(lambda: 0.0, 9, 50.0, id="it is capped"),
        pytest.param(lambda: 0.0, 10**9, 50.0, id="it never overflows"),
    ],
)
def test_backoff(jitter: Jitter, failures: int, expected: float) -> None:
    backoff = Backoff(jitter, first=2.0, longest=100.0)
    assert backoff.delay(failures) == pytest.approx(expected)
