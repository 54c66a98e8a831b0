"""A queue of keys to reconcile: no key twice at once, many keys side by side.

Guarantees: a key is handled once at a time; a key that is added while it is handled is handled
once more afterwards; a failing key backs off alone. Order between keys is arrival.

Fairness: handling is mostly waiting for others, and some of them never answer. A key that takes
longer than `patience` gives its slot away and goes on beside the slots; next time it starts there,
behind whoever is prompt, until it is prompt itself. So keys that hang delay only each other, and
what is in flight stays bounded. Keys without hurry, of which nothing is known to have changed, have
a few slots of their own, and leave precedence to the others.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from olm_runtime.controller.attempt import attempt, failure_of
from olm_runtime.controller.priority import Precedence
from olm_runtime.kube.errors import ApiError
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
    """After how many seconds a key gives its slot away, and how many such keys may be in flight."""

    patience: float = PATIENCE_SECONDS
    max_slow: int = MAX_SLOW


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
class _Lane(Generic[Key]):
    """Keys that wait, in the order of their arrival, and the slots that they wait for."""

    slots: int
    waiting: dict[Key, None] = field(default_factory=dict)
    taken: int = 0

    def pop(self) -> Key:
        """The key that has waited longest."""
        key = next(iter(self.waiting))
        del self.waiting[key]
        return key


@dataclass(slots=True)
class _Place(Generic[Key]):
    """In which lane a key in flight takes a slot."""

    lane: _Lane[Key]


async def nobody(_: object, __: Failed) -> None:
    """For keys of which there is no status to tell anything in."""


class WorkQueue(Generic[Key]):
    """Calls `handle` for every key that was added, and again as its outcome says.

    Whatever `handle` raises is an outcome as well, and said to `tell`, which writes the status.
    """

    def __init__(
        self,
        handle: Callable[[Key], Awaitable[Outcome]],
        *,
        backoff: Backoff,
        tell: Callable[[Key, Failed], Awaitable[None]] = nobody,
        workers: int = DEFAULT_WORKERS,
        fairness: Fairness = DEFAULT_FAIRNESS,
        precedence: Precedence | None = None,
    ) -> None:
        """`workers` prompt keys are in flight at most, and the slow ones of `fairness`.

        Beside them are a quarter as many as `workers` that have no hurry. Queues that get the same
        `precedence` give it to each other's keys.
        """
        self.meter = QueueMeter()
        self._handle = handle
        self._tell = tell
        self._backoff = backoff
        self._patience = fairness.patience
        self._prompt: _Lane[Key] = _Lane(workers)
        self._unhurried: _Lane[Key] = _Lane(max(1, workers // 4))
        self._beside: _Lane[Key] = _Lane(fairness.max_slow)
        self._lanes = (self._prompt, self._unhurried, self._beside)
        self._precedence = precedence or Precedence()
        self._held: asyncio.TimerHandle | None = None
        self._arrived = asyncio.Event()
        self._slow: set[Key] = set()
        self._active: set[Key] = set()
        self._again: dict[Key, bool] = {}
        self._failures: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def add(self, key: Key, *, hurry: bool = True) -> None:
        """Handles the key as soon as a slot is free; cancels a wait for it.

        Without `hurry` it leaves most slots to others.
        """
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._active:
            self._again[key] = hurry or self._again.get(key, False)
            return
        lane = self._lane_for(key, hurry=hurry)
        queued = next((each for each in self._lanes if key in each.waiting), None)
        if queued is None:
            self.meter.added(key, asyncio.get_running_loop().time())
        elif queued is self._unhurried and lane is not queued:
            del queued.waiting[key]
        else:
            return
        lane.waiting[key] = None
        self._arrived.set()

    def _lane_for(self, key: Key, *, hurry: bool) -> _Lane[Key]:
        if key in self._slow:
            return self._beside
        return self._prompt if hurry else self._unhurried

    def add_after(self, key: Key, seconds: float) -> None:
        """Handles the key after a while; an earlier appointment stands."""
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
        return sum(len(lane.waiting) for lane in self._lanes)

    async def run(self) -> None:
        """Works until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._start_all(group)
                    self._arrived.clear()
                    await self._arrived.wait()
        finally:
            for timer in (*self._timers.values(), self._held):
                if timer is not None:
                    timer.cancel()

    def _start_all(self, group: asyncio.TaskGroup) -> None:
        """Starts every key that there is room for."""
        for lane in self._lanes:
            while lane.waiting and lane.taken < lane.slots and self._may_begin(lane):
                key = lane.pop()
                lane.taken += 1
                self._active.add(key)
                group.create_task(self._work(key, _Place(lane)))

    def _may_begin(self, lane: _Lane[Key]) -> bool:
        """Notes the beginning of a key; one without hurry may have to wait for others."""
        loop = asyncio.get_running_loop()
        if lane is self._prompt:
            self._precedence.begin()
        elif lane is self._unhurried:
            if seconds := self._precedence.seconds_to_wait(loop.time()):
                if self._held is not None:
                    self._held.cancel()
                self._held = loop.call_later(seconds, self._arrived.set)
                return False
            self._precedence.passed(loop.time())
        return True

    async def _work(self, key: Key, place: _Place[Key]) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        self.meter.started(key, begun)
        leaving = None
        if place.lane is not self._beside:
            leaving = loop.call_later(self._patience, self._step_aside, key, place)
        try:
            outcome = await self._run_one(key)
        finally:
            if leaving is not None:
                leaving.cancel()
            self._leave(place)
            self._active.discard(key)
        ended = loop.time()
        self.meter.finished(key, ended, outcome)
        if ended - begun < self._patience:
            self._slow.discard(key)
        self._schedule(key, outcome)

    def _step_aside(self, key: Key, place: _Place[Key]) -> None:
        """Frees the slot of a key that takes long."""
        self._slow.add(key)
        if self._beside.taken < self._beside.slots:
            self._leave(place)
            self._beside.taken += 1
            place.lane = self._beside

    def _leave(self, place: _Place[Key]) -> None:
        place.lane.taken -= 1
        if place.lane is self._prompt:
            self._precedence.end(asyncio.get_running_loop().time())
        self._arrived.set()

    async def _run_one(self, key: Key) -> Outcome:
        try:
            return await self._handle(key)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it is logged there
            failed = failure_of(error, str(key))
            # A conflict, or a moment without the API server, has passed by the next try.
            if not isinstance(error, ApiError) or key in self._failures:
                untold = await attempt(self._tell(key, failed), f"the status of {key}")
                if untold is not None:
                    log.warning("%s: its status cannot be written: %s", key, untold.message)
            return failed

    def _schedule(self, key: Key, outcome: Outcome) -> None:
        retries = self._failures.pop(key, 0)
        match outcome:
            case Done(requeue_after=seconds):
                if seconds is not None:
                    self.add_after(key, seconds)
            case Wait(seconds=seconds):
                self.add_after(key, seconds)
            case Retry(message=message, within=within, after=after):
                self._failures[key] = retries + 1
                delay = self._backoff.delay(retries + 1)
                delay = max(after, delay if within is None else min(delay, within))
                log.warning("%s: %s; next try in %.1f s", key, message, delay)
                self.add_after(key, delay)
            case Blocked(reason=reason, message=message):
                log.warning("%s: blocked (%s): %s", key, reason, message)
        if key in self._again:
            self.add(key, hurry=self._again.pop(key))
