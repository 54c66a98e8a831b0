"""A queue of keys to reconcile: no key twice at once, many keys side by side.

Guarantees: a key is handled once at a time; a key that is added while it is handled is handled
once more afterwards; a failing key backs off alone. Order between keys is arrival, or what `lanes`
makes of the places that they are given.

Fairness: handling is mostly waiting for others, and some of them never answer. A key that takes
longer than `patience` moves to the slots of slow keys; next time it starts there, until it is
prompt again. So keys that hang delay only each other, and what is in flight stays bounded. Keys of
low priority, of which nothing is known to have changed, have a few slots of their own, and wait for
the others. What was begun has slots of its own, too: else who is neither the oldest nor the newest
would have the last little done when all others were begun.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from olm_runtime import tracing
from olm_runtime.controller.attempt import attempt, failure_of
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.kube.errors import ApiError
from olm_runtime.kube.request_slots import Asking, asking
from olm_runtime.lanes import Lane, Place, Priority, by_arrival
from olm_runtime.metrics.queue_meter import QueueMeter
from olm_runtime.outcome import Blocked, Done, Failed, Outcome, Retry, Wait

Key = TypeVar("Key", bound=Hashable)

DEFAULT_WORKERS = 8
PATIENCE_SECONDS = 1.0
"""Most work is done sooner, even with many at once."""
MAX_SLOW = 256
"""Each costs some memory and a connection; beyond it, keys that hang do occupy slots."""
FIRST_DELAY_SECONDS = 0.25
LONGEST_DELAY_SECONDS = 120.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fairness:
    """After how many seconds a key counts as slow, and how many slow keys may be in flight.

    Keys of low priority wait for the others of all queues that share a `gate`.
    """

    patience: float = PATIENCE_SECONDS
    max_slow: int = MAX_SLOW
    gate: PriorityGate | None = None


DEFAULT_FAIRNESS = Fairness()


class Backoff:
    """Delays that double per failure, spread by jitter in [0.5, 1) and capped."""

    def __init__(
        self,
        jitter: Callable[[], float],
        first: float = FIRST_DELAY_SECONDS,
        longest: float = LONGEST_DELAY_SECONDS,
    ) -> None:
        """`jitter` gives numbers in [0, 1), as random.random does."""
        self._jitter = jitter
        self._first = first
        self._longest = longest

    def delay(self, failures: int) -> float:
        """Seconds to wait after that many failures in a row (1 or more)."""
        doubled = self._first * 2.0 ** min(failures - 1, 30)
        return min(doubled, self._longest) * (0.5 + self._jitter() / 2)


@dataclass(slots=True)
class _Slot(Generic[Key]):
    """In which lane a key in flight takes a slot, since when, and on whose behalf it asks."""

    lane: Lane[Key]
    asking: Asking
    begun: float
    watched: asyncio.TimerHandle | None = None

    def seconds(self, now: float) -> float:
        """For how long it has been handled, without the time in which its requests waited."""
        return now - self.begun - self.asking.seconds_waited(now)


async def log_only(_: object, __: Failed) -> None:
    """For keys that have no status to report a failure in."""


class WorkQueue(Generic[Key]):
    """Calls `handle` for every key that was added, and again as its outcome says.

    Whatever `handle` raises is an outcome as well, and given to `report`, which writes the status.
    """

    def __init__(
        self,
        handle: Callable[[Key], Awaitable[Outcome]],
        *,
        backoff: Backoff,
        report: Callable[[Key, Failed], Awaitable[None]] = log_only,
        workers: int = DEFAULT_WORKERS,
        fairness: Fairness = DEFAULT_FAIRNESS,
        place: Callable[[Key], Place | None] = by_arrival,
    ) -> None:
        """In flight are at most `workers` prompt keys, as many whose places say that they were
        begun, and half as many of low priority.

        `place` is asked for the place of each key of another priority that is to wait.
        """
        self.meter = QueueMeter()
        self.span_name = "reconcile"
        self._handle = handle
        self._report = report
        self._backoff = backoff
        self._patience = fairness.patience
        self._normal: Lane[Key] = Lane(workers, newest_too=place is not by_arrival)
        self._begun: Lane[Key] = Lane(workers, newest_too=place is not by_arrival)
        self._low: Lane[Key] = Lane(max(1, workers // 2), newest_too=False)
        self._slow_lane: Lane[Key] = Lane(fairness.max_slow, newest_too=False)
        self._prompt = (self._begun, self._normal)
        self._lanes = (*self._prompt, self._low, self._slow_lane)
        self._gate = fairness.gate or PriorityGate()
        self._place = place
        self._low_timer: asyncio.TimerHandle | None = None
        self._arrived = asyncio.Event()
        self._slow: set[Key] = set()
        self._active: set[Key] = set()
        self._again: dict[Key, Priority] = {}
        self._failures: dict[Key, int] = {}
        self._raised: set[Key] = set()
        """Keys whose last handling raised an error."""
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def add(self, key: Key, *, priority: Priority = Priority.NORMAL, after: float = 0.0) -> None:
        """Handles the key as soon as a slot is free; cancels a wait for it.

        After so many seconds, if given; an earlier appointment stands.
        """
        if after > 0:
            self._add_after(key, after)
            return
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._active:
            self._again[key] = max(priority, self._again.get(key, priority))
            return
        now = asyncio.get_running_loop().time()
        place = (None if priority is Priority.LOW else self._place(key)) or Place(priority, now)
        lane = self._lane_for(key, place)
        queued = next((each for each in self._lanes if key in each), None)
        if queued is None:
            self.meter.added(key, now)
        elif lane is not queued and (lane is self._begun or queued is self._low):
            queued.remove(key)
        else:
            lane = queued
        lane.add(key, place)
        self._arrived.set()

    def _lane_for(self, key: Key, place: Place) -> Lane[Key]:
        if key in self._slow:
            return self._slow_lane
        if place.begun:
            return self._begun
        return self._low if place.priority is Priority.LOW else self._normal

    def _add_after(self, key: Key, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + seconds
        timer = self._timers.get(key)
        if timer is not None:
            if timer.when() <= when:
                return
            timer.cancel()
        self._timers[key] = loop.call_at(when, self.add, key)

    def depth(self) -> int:
        """Keys that wait for a slot."""
        return sum(len(lane) for lane in self._lanes)

    async def run(self) -> None:
        """Works until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._start_all(group)
                    self._arrived.clear()
                    await self._arrived.wait()
        finally:
            for timer in (*self._timers.values(), self._low_timer):
                if timer is not None:
                    timer.cancel()

    def _start_all(self, group: asyncio.TaskGroup) -> None:
        """Starts every key that there is room for."""
        now = asyncio.get_running_loop().time()
        for lane in self._lanes:
            while len(lane) and lane.taken < lane.slots and self._may_begin(lane):
                key, place = lane.pop(self._place)
                lane.taken += 1
                self._active.add(key)
                group.create_task(self._work(key, _Slot(lane, Asking(place), now)))

    def _may_begin(self, lane: Lane[Key]) -> bool:
        """Notes the beginning of a key; one of low priority may have to wait for others."""
        loop = asyncio.get_running_loop()
        if lane in self._prompt:
            self._gate.begin()
        elif lane is self._low:
            if seconds := self._gate.seconds_to_wait(loop.time()):
                if self._low_timer is not None:
                    self._low_timer.cancel()
                self._low_timer = loop.call_later(seconds, self._arrived.set)
                return False
            self._gate.passed(loop.time())
        return True

    async def _work(self, key: Key, slot: _Slot[Key]) -> None:
        asking.set(slot.asking)
        with tracing.span(self.span_name, {"olm.request": str(key)}) as current:
            outcome = await self._run_in(key, slot)
            if isinstance(outcome, Retry | Blocked):
                tracing.failed(current, outcome.message)
            self._schedule(key, outcome)

    async def _run_in(self, key: Key, slot: _Slot[Key]) -> Outcome:
        loop = asyncio.get_running_loop()
        self.meter.started(key, slot.begun)
        self._watch(key, slot)
        try:
            outcome = await self._run_one(key)
        finally:
            if slot.watched is not None:
                slot.watched.cancel()
            self._leave(slot)
            self._active.discard(key)
        ended = loop.time()
        self.meter.finished(key, ended, outcome)
        if slot.seconds(ended) < self._patience:
            self._slow.discard(key)
        return outcome

    def _watch(self, key: Key, slot: _Slot[Key]) -> None:
        """Has a key step aside once it takes long."""
        loop = asyncio.get_running_loop()
        left = self._patience - slot.seconds(loop.time())
        if slot.lane is self._slow_lane:
            slot.watched = None
        elif left > 0:
            slot.watched = loop.call_later(left, self._watch, key, slot)
        else:
            self._step_aside(key, slot)

    def _step_aside(self, key: Key, slot: _Slot[Key]) -> None:
        """Moves a key that takes long to the slots of slow keys, while one is free."""
        self._slow.add(key)
        if self._slow_lane.taken < self._slow_lane.slots:
            self._leave(slot)
            self._slow_lane.taken += 1
            slot.lane = self._slow_lane

    def _leave(self, slot: _Slot[Key]) -> None:
        slot.lane.taken -= 1
        if slot.lane in self._prompt:
            self._gate.end(asyncio.get_running_loop().time())
        self._arrived.set()

    async def _run_one(self, key: Key) -> Outcome:
        try:
            outcome = await self._handle(key)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is logged there
            failed = failure_of(error, str(key))
            # A conflict, or a moment without the API server, has passed by the next try.
            passing = isinstance(error, ApiError) and key not in self._raised
            self._raised.add(key)
            if not passing:
                unreported = await attempt(self._report(key, failed), f"the status of {key}")
                if unreported is not None:
                    log.warning("%s: its status cannot be written: %s", key, unreported.message)
            return failed
        self._raised.discard(key)
        return outcome

    def _schedule(self, key: Key, outcome: Outcome) -> None:
        retries = self._failures.pop(key, 0)
        match outcome:
            case Done(requeue_after=seconds):
                if seconds is not None:
                    self._add_after(key, seconds)
            case Wait(seconds=seconds):
                self._add_after(key, seconds)
            case Retry(message=message, within=within, after=after):
                self._failures[key] = retries + 1
                delay = self._backoff.delay(retries + 1)
                delay = max(after, delay if within is None else min(delay, within))
                log.warning("%s: %s; next try in %.1f s", key, message, delay)
                self._add_after(key, delay)
            case Blocked(reason=reason, message=message):
                log.warning("%s: blocked (%s): %s", key, reason, message)
        if key in self._again:
            self.add(key, priority=self._again.pop(key))
