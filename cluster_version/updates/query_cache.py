"""Questions to a metrics store, few at a time, with answers cached for a while.

A question may cost the store much, and there may be many: no evaluation begins soon after another
ended. Whoever asks meanwhile gets the answer of before. When one may begin, it is of the question
that has waited longest, so that none starves. Source of the rules: upstream's notes, section 4.2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cluster_version.updates.risks import Ask
from olm_runtime.errors import OLMError, TransientError

PAUSE = timedelta(seconds=1)
"""Between the end of an evaluation and the begin of the next."""
FRESH = timedelta(hours=1)
RETENTION = timedelta(hours=24)


@dataclass(slots=True)
class _Entry:
    """A question: when it was asked last, when its evaluation ended, and how."""

    asked: datetime | None = None
    evaluated: datetime | None = None
    answer: bool | OLMError = False

    @property
    def is_requested(self) -> bool:
        """Whether it was asked since its evaluation."""
        if self.asked is None:
            return False
        return self.evaluated is None or self.asked > self.evaluated


class QueryCache:
    """The answers of a metrics store."""

    def __init__(self, ask: Ask, clock: Callable[[], datetime], fresh: timedelta = FRESH) -> None:
        """`ask` evaluates a question; `clock` gives times that only go forth.

        fresh  how long the answer to a question is not looked for anew
        """
        self._ask = ask
        self._clock = clock
        self._fresh = fresh
        self._last: datetime | None = None
        self._entries: dict[str, _Entry] = {}

    async def ask(self, query: str) -> bool:
        """The answer to a question, new or cached.

        Raises OLMError: why it was not evaluated, or TransientError where it has to wait.
        """
        try:
            return await self._answer(query, self._clock())
        finally:
            self._entries.setdefault(query, _Entry()).asked = self._clock()

    async def _answer(self, query: str, now: datetime) -> bool:
        self._forget(now)
        if self._last is not None and now - self._last <= PAUSE:
            until = (self._last + PAUSE).strftime("%H:%M:%SZ")
            return self._cached_answer(query, f"evaluation is throttled until {until}")
        chosen = self._stalest()
        if chosen is not None and self._is_fresh(chosen, now):
            if self._is_answered(query):
                return self._cached_answer(query, "")
            chosen = None
        await self._evaluate(query if chosen is None else chosen)
        return self._cached_answer(query, "evaluation is throttled")

    def _cached_answer(self, query: str, otherwise: str) -> bool:
        """Raises OLMError."""
        if not self._is_answered(query):
            raise TransientError(otherwise)
        answer = self._entries[query].answer
        if isinstance(answer, OLMError):
            raise answer
        return answer

    def _is_answered(self, query: str) -> bool:
        entry = self._entries.get(query)
        return entry is not None and entry.evaluated is not None

    def _is_fresh(self, query: str, now: datetime) -> bool:
        evaluated = self._entries[query].evaluated
        return evaluated is not None and now - evaluated < self._fresh

    def _stalest(self) -> str | None:
        """Of the questions that were asked since their evaluation."""
        requested = {query: each for query, each in self._entries.items() if each.is_requested}

        def staleness(query: str) -> tuple[bool, datetime | None, datetime | None]:
            entry = requested[query]
            return entry.evaluated is not None, entry.evaluated or entry.asked, entry.asked

        return min(requested, key=staleness, default=None)

    async def _evaluate(self, query: str) -> None:
        answer: bool | OLMError
        try:
            answer = await self._ask(query)
        except OLMError as error:
            answer = error
        self._last = self._clock()
        entry = self._entries.setdefault(query, _Entry())
        entry.evaluated, entry.answer = self._last, answer

    def _forget(self, now: datetime) -> None:
        for query, entry in list(self._entries.items()):
            known = entry.evaluated or entry.asked
            if known is not None and now - known > RETENTION:
                del self._entries[query]
