"""Applies the release that was accepted, round after round.

Source of the rules: upstream's notes, section 9.4.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from cluster_version.errors import UpdateError
from cluster_version.payload.capabilities import ClusterCapabilities
from cluster_version.payload.contents import Payload
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.task_graph import State
from cluster_version.status.levels import Level
from olm_runtime.errors import OLMError

FIRST_PAUSE = 1 / 16
"""After a first failure twice this part of the interval, which doubles until it is the whole."""
SHORT_PAUSES = 3
JITTER = 0.2
LIMITS = {State.INITIALIZING: 1, State.UPDATING: 2, State.RECONCILING: 2}
"""How long a round may take, in intervals."""
COUNT_SECONDS = 15.0
"""How soon the count of applied manifests is reported; other changes are reported at once."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A release to apply, and what of it.

    owner_uid   of the ClusterVersion
    forced      whether it was accepted in spite of what speaks against it
    generation  of the ClusterVersion that asks for it
    verified    whether a signature was found to be good
    """

    payload: Payload
    owner_uid: str
    capabilities: ClusterCapabilities
    overrides: Sequence[Mapping[str, Any]] = ()
    feature_gates: frozenset[str] = frozenset()
    forced: bool = False
    verified: bool = False
    generation: int = 0

    @property
    def image(self) -> str:
        """The release image, which the whole pull spec identifies."""
        return self.payload.release.image

    @property
    def filters(self) -> Filters:
        """Which of its manifests are applied."""
        return Filters(
            capabilities=self.capabilities.as_filter(),
            overrides=self.overrides,
            feature_gates=self.feature_gates,
        )

    def asks_the_same(self, other: "Work") -> bool:
        """Whether nothing is different for a round: implicit capabilities say only why."""
        return _asked(self) == _asked(other)


def _asked(work: Work) -> object:
    found = work.capabilities
    return (
        *(work.image, work.payload.hash, work.forced, list(work.overrides)),
        *(work.feature_gates, found.known, found.enabled),
    )


@dataclass(frozen=True, slots=True)
class Report:
    """How far a release is applied.

    done       of `total` manifests
    completed  how many rounds in a row ended without error
    errors     of the last round that failed, until another one comes as far
    levels     how far the runlevels are; none while the release is reconciled
    """

    work: Work
    done: int = 0
    total: int = 0
    completed: int = 0
    reconciling: bool = False
    initial: bool = False
    errors: tuple[OLMError, ...] = ()
    levels: tuple[Level, ...] = ()

    def follows(self, earlier: "Report | None") -> bool:
        """Whether it replaces an earlier one, whose failure must not be forgotten too soon."""
        if earlier is None or not earlier.errors or self.errors:
            return True
        return self.work.image != earlier.work.image or _part(self) >= _part(earlier)

    def only_counts(self, earlier: "Report | None") -> bool:
        """Whether it says nothing new but how many manifests are applied."""
        if earlier is None:
            return False
        return replace(self, done=earlier.done, levels=earlier.levels) == earlier


def _part(report: Report) -> float:
    return report.done / report.total if report.total else 0.0


def _detail(error: OLMError) -> str:
    return error.detail if isinstance(error, UpdateError) else ""


class Pass(Protocol):
    """One round over a release."""

    @property
    def done(self) -> int:
        """How many manifests are applied and well."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """How far each runlevel is."""

    @property
    def reported(self) -> Sequence[OLMError]:
        """What is to be reported although it hinders nothing."""

    async def run(self, seconds: float) -> Sequence[OLMError]:
        """Applies what can be in the time; the errors of the rest."""


Begin = Callable[[Work, State, int, Callable[[], None]], Pass]
"""Makes the round of an attempt in a state; the last is called at each step forward."""


class SyncWorker:
    """One round after another over the release that was taken last."""

    def __init__(
        self,
        begin: Begin,
        *,
        interval: float,
        jitter: Callable[[], float],
        notify: Callable[[float], None],
    ) -> None:
        """`interval` in seconds; `jitter` gives numbers in [0, 1).

        `notify` announces a report, and how many seconds that may wait.
        """
        self._begin = begin
        self._interval = interval
        self._jitter = jitter
        self._notify = notify
        self._due = asyncio.Event()
        self._running: asyncio.Task[float] | None = None
        self._state = State.RECONCILING
        self._attempt = 0
        self._completed = 0
        self._recorded = asyncio.Event()
        self._recorded.set()
        self.work: Work | None = None
        self.report: Report | None = None

    @property
    def state(self) -> State:
        """Why the next round is."""
        return self._state

    def take(self, work: Work, first: State) -> None:
        """Has a release applied from now on; a round over what was asked for before is cut short.

        `first`: the state in which the very first one is applied.
        """
        before, self.work = self.work, work
        if before is not None and before.asks_the_same(work):
            if self.report is not None and self.report.work.asks_the_same(work):
                self.report = replace(self.report, work=work)
            return
        if before is None:
            self._state = first
        elif self._state is not State.INITIALIZING:
            self._state = State.UPDATING
        if before is not None and before.image != work.image:
            self._recorded.clear()
        self._attempt = 0
        self._due.set()
        if self._running is not None:
            self._running.cancel()

    def note_recorded(self, image: str) -> None:
        """The status of the ClusterVersion says that an image is applied."""
        if self.work is not None and self.work.image == image:
            self._recorded.set()

    def wake(self) -> None:
        """Something that a release may wait for has changed: an update is tried again at once."""
        if self.work is not None and self._state is not State.RECONCILING:
            self._due.set()

    async def run(self) -> NoReturn:
        """Works until cancelled."""
        pause: float | None = None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._due.wait()
            self._due.clear()
            if self.work is None:
                continue
            self._running = asyncio.create_task(self._run_round(self.work, self._state))
            try:
                await asyncio.wait([self._running])
            finally:
                self._running.cancel()
            pause = None if self._running.cancelled() else self._running.result()
            self._running = None

    async def _run_round(self, work: Work, state: State) -> float:
        """One round; the seconds until the next."""
        seconds = LIMITS[state] * self._interval
        log.info(
            "applying %s: %s, attempt %d", work.payload.release.version, state.value, self._attempt
        )
        current = Report(
            work,
            total=len(work.payload.manifests),
            reconciling=state is State.RECONCILING,
            initial=state is State.INITIALIZING,
        )

        def now() -> Report:
            levels = round_.levels if state is not State.RECONCILING else ()
            return replace(current, done=round_.done, levels=levels)

        def publish() -> None:
            self._publish(now())

        round_ = self._begin(work, state, self._attempt, publish)
        await self._record(current)
        errors = await round_.run(seconds)
        if errors:
            return self._failed(replace(now(), errors=tuple(errors)))
        log.info("applied %s: %d manifests", work.payload.release.version, round_.done)
        self._due.clear()
        self._attempt, self._completed, self._state = 0, self._completed + 1, State.RECONCILING
        done = replace(now(), completed=self._completed)
        done = replace(done, reconciling=True, initial=False, errors=tuple(round_.reported))
        self._publish(done)
        return self._interval

    async def _record(self, begun: Report) -> None:
        """Has another release in the history before any of it is applied.

        One of its first manifests may end this process, and the next one does not know what was
        verified.
        """
        if not self._recorded.is_set():
            self._publish(begun)
            self._notify(0.0)
            await self._recorded.wait()

    def _failed(self, report: Report) -> float:
        for error in report.errors:
            log.warning("%s", ": ".join(filter(None, (error.message, _detail(error)))))
        self._publish(report)
        self._attempt += 1
        self._completed = 0
        short = FIRST_PAUSE * 2**self._attempt if self._attempt <= SHORT_PAUSES else 1.0
        return short * self._interval * (1 + JITTER * self._jitter())

    def _publish(self, report: Report) -> None:
        earlier = self.report
        if report.follows(earlier):
            self.report = report
            self._notify(COUNT_SECONDS if report.only_counts(earlier) else 0.0)
