"""Finds out again and again which updates a cluster may make.

Source of the rules: upstream's notes, sections 3.4, 3.5 and 4.1.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NoReturn

from api.conditions import ConditionStatus
from cluster_version.payload.release import Release
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.whole import RETRIEVED
from cluster_version.updates.alert_risks import alert_risks
from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.graph import Risk, Updates, read_graph, updates_of, with_cluster_id
from cluster_version.updates.listing import listed
from cluster_version.updates.retrieval import KEEP_LISTS, Question, failed, request_of
from cluster_version.updates.risks import Ask, Evaluated, Exposure, evaluate
from cluster_version.updates.weighing import Weighing
from olm_runtime.errors import OLMError

MAX_AGE = timedelta(hours=24)
"""How old lists may be that stay although the service fails."""
AGAIN_SECONDS = 1.0
"""Until risks that could not be evaluated are evaluated again."""

Get = Callable[[str], Awaitable[bytes]]
"""The body of an answer to a GET of a URL. Raises RetrievalError."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where updates and their risks come from.

    get     asks the update service
    ask     asks the metrics store a query
    alerts  asks it for alerts; raises OLMError
    """

    get: Get
    ask: Ask
    alerts: Callable[[], Awaitable[Sequence[dict[str, Any]]]]


log = logging.getLogger(__name__)

_NONE = Updates(Release(""))
_NOT_YET = Evaluated((), ())


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked, for a release of an architecture.

    weighing  what the cluster adds to the risks of updates; None where its gate for that is off
    """

    question: Question
    architecture: str
    weighing: Weighing | None = None

    @property
    def setting(self) -> tuple[str, ...]:
        """What makes the lists of before those of another question.

        The version is among it, though not upstream's: there each release has a process of its own.
        """
        asked = self.question
        return asked.service, asked.channel, asked.architecture, asked.version


@dataclass(frozen=True, slots=True)
class Found:
    """What came of the last attempt.

    since    when there was the last answer, or something else was asked than before
    error    why the last attempt gave none
    weighed  what the cluster added when the risks were evaluated
    """

    wanted: Wanted
    since: datetime
    updates: Updates
    error: RetrievalError | None = None
    evaluated: Evaluated = _NOT_YET
    weighed: Weighing | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is known of each update if it is recommended."""
        verdicts = (verdict for _, verdict in self.evaluated.conditional)
        return all(verdict.status is not ConditionStatus.UNKNOWN for verdict in verdicts)

    def outlasts(self, error: RetrievalError, now: datetime) -> bool:
        """Whether these updates stay although there is no answer now to the same question."""
        return error.reason in KEEP_LISTS and now - self.since < MAX_AGE


class Availability:
    """What the update service says to the question that was asked last, risks evaluated."""

    def __init__(
        self,
        sources: Sources,
        *,
        interval: float,
        jitter: Callable[[], float],
        clock: Callable[[], datetime],
        notify: Callable[[], None],
    ) -> None:
        """`interval` is of the seconds between questions to the service.

        They are up to twice as many by `jitter`, which gives numbers in [0, 1).
        """
        self._sources = sources
        self._interval = interval * (1 + jitter())
        self._clock = clock
        self._notify = notify
        self._due = asyncio.Event()
        self._running: asyncio.Task[float] | None = None
        self._wanted: Wanted | None = None
        self._found: Found | None = None
        self._next = 0.0
        self._alerts: Mapping[Risk, Exposure] = {}

    @property
    def known(self) -> Iterator[Release]:
        """The releases that the service listed, the current one first."""
        if self._found is not None:
            updates = self._found.updates
            yield updates.current
            yield from updates.available
            yield from (each.release for each in updates.conditional)

    @property
    def retrieved(self) -> float | None:
        """When there was an answer, or something else to ask; in seconds since the epoch."""
        return None if self._found is None else self._found.since.timestamp()

    def follow(self, wanted: Wanted) -> None:
        """Has this asked from now on: at once, if it has another setting than before."""
        before, self._wanted = self._wanted, wanted
        if before is None or before.setting != wanted.setting:
            self._next = 0.0
            self._due.set()
            if self._running is not None:
                self._running.cancel()
        elif before.weighing != wanted.weighing:
            self._due.set()

    def put_into(self, status: Mapping[str, Any], now: datetime) -> dict[str, Any]:
        """A status with what is known; as it was before there is an answer to what is asked."""
        found, wanted = self._found, self._wanted
        after = dict(status)
        if found is None or wanted is None or found.wanted.setting != wanted.setting:
            return after
        after |= listed(found.evaluated, status, now, weighed=found.weighed is not None)
        for optional in ("conditionalUpdates", "conditionalUpdateRisks"):
            if not after[optional]:
                del after[optional]
        conditions = ConditionList.of(status.get("conditions") or (), now)
        if found.error is None:
            conditions.set(RETRIEVED, ConditionStatus.TRUE)
        else:
            error = found.error
            conditions.set(RETRIEVED, ConditionStatus.FALSE, error.reason, error.message)
        return after | {"conditions": conditions.conditions}

    async def run(self) -> NoReturn:
        """Works until cancelled."""
        pause: float | None = None
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._due.wait()
            self._due.clear()
            if self._wanted is None:
                continue
            self._running = asyncio.create_task(self._look(self._wanted))
            try:
                await asyncio.wait([self._running])
            finally:
                self._running.cancel()
            pause = None if self._running.cancelled() else self._running.result()
            self._running = None

    async def _look(self, wanted: Wanted) -> float:
        """Asks what it is time for; the seconds until the next time."""
        loop = asyncio.get_running_loop()
        found, is_new = self._found, False
        if found is None or loop.time() >= self._next:
            found, is_new = await self._attempt(wanted), True
            self._next = loop.time() + self._interval
        if is_new or not found.is_decided or found.weighed != wanted.weighing:
            found = await self._evaluated(found, wanted.weighing)
        if found != self._found:
            self._found = found
            self._notify()
        rest = max(0.0, self._next - loop.time())
        return rest if found.is_decided else min(AGAIN_SECONDS, rest)

    async def _evaluated(self, found: Found, weighing: Weighing | None) -> Found:
        """Raises no OLMError: what cannot be asked for is unknown, or as it was."""
        ask, added = self._sources.ask, weighing or Weighing()
        alerts = {} if weighing is None else await self._risks_of_alerts()
        known = {risk.name: exposure for risk, exposure in alerts.items()}
        updates = added.added(found.updates, alerts)
        evaluated = await evaluate(updates, ask, added.accepted, known)
        return replace(found, evaluated=evaluated, weighed=weighing)

    async def _risks_of_alerts(self) -> Mapping[Risk, Exposure]:
        """Of those that fire; of those from before, where they cannot be asked for."""
        try:
            self._alerts = alert_risks(await self._sources.alerts())
        except OLMError as error:
            log.warning("cannot tell which alerts fire: %s", error.message)
        return self._alerts

    async def _attempt(self, wanted: Wanted) -> Found:
        """What is known after asking the service once."""
        before, now = self._found, self._clock()
        try:
            return Found(wanted, now, await self._retrieve(wanted))
        except RetrievalError as error:
            if before is None or before.wanted.setting != wanted.setting:
                before = Found(wanted, now, _NONE)
            if before.error is None or before.error.message != error.message:
                log.warning("cannot retrieve updates: %s: %s", error.reason, error.message)
            updates = before.updates if before.outlasts(error, now) else _NONE
            return Found(wanted, before.since, updates, error)

    async def _retrieve(self, wanted: Wanted) -> Updates:
        """Raises RetrievalError."""
        question = wanted.question
        request = request_of(question)
        try:
            updates = updates_of(
                read_graph(await self._sources.get(request.url)),
                request.version,
                question.channel,
                desired=question.architecture,
                current=wanted.architecture,
            )
        except RetrievalError as error:
            raise failed(error) from error
        return with_cluster_id(updates, question.cluster_id) if question.is_hosted else updates
