"""A queue of keys to reconcile: no key twice at once, many keys side by side.

Guarantees: a key is handled by one worker at a time; a key that is added while it is handled is
handled once more afterwards; a failing key backs off alone. Order between keys is arrival.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from olm_shared.errors import OLMError
from olm_shared.outcome import Blocked, Done, Outcome, Retry, Wait, outcome_of

Key = TypeVar("Key", bound=Hashable)

DEFAULT_WORKERS = 8
FIRST_DELAY_SECONDS = 0.25
LONGEST_DELAY_SECONDS = 120.0

log = logging.getLogger(__name__)


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


class WorkQueue(Generic[Key]):
    """Calls `handle` for every key that was added, and again as its outcome says."""

    def __init__(
        self,
        handle: Callable[[Key], Awaitable[Outcome]],
        *,
        backoff: Backoff,
        workers: int = DEFAULT_WORKERS,
    ) -> None:
        self._handle = handle
        self._backoff = backoff
        self._workers = workers
        self._ready: asyncio.Queue[Key] = asyncio.Queue()
        self._queued: set[Key] = set()
        self._active: set[Key] = set()
        self._again: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def add(self, key: Key) -> None:
        """Handles the key as soon as a worker is free; cancels a wait for it."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._active:
            self._again.add(key)
        elif key not in self._queued:
            self._queued.add(key)
            self._ready.put_nowait(key)

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
        """Keys that wait for a worker."""
        return len(self._queued)

    async def run(self) -> None:
        """Works until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._work())
        finally:
            for timer in self._timers.values():
                timer.cancel()

    async def _work(self) -> None:
        while True:
            key = await self._ready.get()
            self._queued.discard(key)
            self._active.add(key)
            try:
                outcome = await self._run_one(key)
            finally:
                self._active.discard(key)
            self._schedule(key, outcome)

    async def _run_one(self, key: Key) -> Outcome:
        try:
            return await self._handle(key)
        except OLMError as error:
            return outcome_of(error)
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            # Work that was shared with others was cancelled, not this worker: it goes on.
            log.exception("handling of %s was cut short", key)
        except Exception:
            log.exception("unexpected failure while handling %s", key)
        return Retry("internal error; see the log of the controller")

    def _schedule(self, key: Key, outcome: Outcome) -> None:
        retries = self._failures.pop(key, 0)
        match outcome:
            case Done(requeue_after=seconds):
                if seconds is not None:
                    self.add_after(key, seconds)
            case Wait(seconds=seconds):
                self.add_after(key, seconds)
            case Retry(message=message, within=within):
                self._failures[key] = retries + 1
                delay = self._backoff.delay(retries + 1)
                delay = delay if within is None else min(delay, within)
                log.warning("%s: %s; next try in %.1f s", key, message, delay)
                self.add_after(key, delay)
            case Blocked(reason=reason, message=message):
                log.warning("%s: blocked (%s): %s", key, reason, message)
        if key in self._again:
            self._again.discard(key)
            self.add(key)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
