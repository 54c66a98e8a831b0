"""The work queue, whatever is added and whenever: nothing is lost, starves or is handled twice."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from olm_runtime.controller.workqueue import Backoff, Fairness, WorkQueue
from olm_runtime.lanes import TURNS, Lane, Place, Priority
from olm_runtime.outcome import Done, Outcome, Retry
from tests.property.scale import cases

pytestmark = pytest.mark.property

KEYS = st.integers(0, 40)
PLACES = st.builds(Place, st.sampled_from(Priority), st.floats(0, 100))


class Waiting(RuleBasedStateMachine):
    """Keys that come to a lane, lose their urgency and are taken from it, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.lane: Lane[int] = Lane(slots=2)
        self.places: dict[int, Place] = {}
        self.bounds: dict[int, int] = {}
        """Of each key that waits, how many more may be taken before it."""

    @rule(key=KEYS, place=PLACES)
    def comes(self, key: int, place: Place) -> None:
        self.lane.add(key, place)
        if key not in self.places:
            self.bounds[key] = TURNS * (len(self.places) + 1)
            self.places[key] = place
        elif place.priority > self.places[key].priority:
            self.places[key] = place

    @precondition(lambda self: self.places)
    @rule(data=st.data())
    def loses_its_urgency(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.places)))
        self.places[key] = Place(Priority.LOW, self.places[key].since)

    @precondition(lambda self: self.places)
    @rule()
    def is_taken(self) -> None:
        waiting = dict(self.places)
        key, place = self.lane.pop(self.places.get)
        assert place.priority == self.places[key].priority
        del self.places[key], self.bounds[key]
        longest = next(iter(waiting))
        most = max(place.priority for place in waiting.values())
        assert key == longest or waiting[key].priority == most
        self.bounds = {each: bound - 1 for each, bound in self.bounds.items()}

    @precondition(lambda self: self.places)
    @rule(data=st.data())
    def leaves(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.places)))
        self.lane.remove(key)
        del self.places[key], self.bounds[key]

    @invariant()
    def nothing_is_lost(self) -> None:
        assert len(self.lane) == len(self.places)
        assert all(key in self.lane for key in self.places)

    @invariant()
    def none_waits_longer_than_for_those_before_it(self) -> None:
        assert all(bound > 0 for bound in self.bounds.values())


TestWaiting = Waiting.TestCase
TestWaiting.settings = settings(max_examples=cases(200), stateful_step_count=80, deadline=None)

ADDS = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from(Priority), st.integers(0, 3)), max_size=60
)


@given(adds=ADDS, workers=st.integers(1, 4), failing=st.sets(st.integers(0, 60), max_size=10))
@settings(max_examples=cases(150), deadline=None)
def test_each_key_is_handled_after_it_was_added_and_never_twice_at_once(
    adds: list[tuple[int, Priority, int]], workers: int, failing: set[int]
) -> None:
    """Some moments pass after each addition; some of the handlings fail."""
    asyncio.run(_handled(adds, workers, failing))


async def _handled(adds: list[tuple[int, Priority, int]], workers: int, failing: set[int]) -> None:
    active: set[int] = set()
    unhandled: set[int] = set()
    count: Counter[str] = Counter()

    async def handle(key: int) -> Outcome:
        assert key not in active
        active.add(key)
        assert len(active) <= workers + max(1, workers // 4)
        unhandled.discard(key)
        count["handled"] += 1
        fails = count["handled"] in failing
        for _ in range(key % 3):
            await asyncio.sleep(0)
        active.discard(key)
        return Retry("no") if fails else Done()

    queue: WorkQueue[int] = WorkQueue(
        handle,
        backoff=Backoff(lambda: 0.0, first=0.001, longest=0.001),
        workers=workers,
        fairness=Fairness(60.0),
        place=lambda key: Place(Priority.HIGH, float(key)) if key % 2 else None,
    )
    task = asyncio.create_task(queue.run())
    for key, priority, moments in adds:
        unhandled.add(key)
        queue.add(key, priority=priority)
        for _ in range(moments):
            await asyncio.sleep(0)
    async with asyncio.timeout(30):
        while unhandled or queue.depth() or active:  # noqa: ASYNC110 - nobody says when
            await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
