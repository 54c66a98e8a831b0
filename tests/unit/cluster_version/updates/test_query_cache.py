"""Questions to a metrics store, a few at a time."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from cluster_version.updates.query_cache import QueryCache
from olm_runtime.errors import OLMError, TerminalError


class Store:
    """A metrics store that takes ten milliseconds, and its cache."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.results: dict[str, bool | str] = {}
        self.evaluated: list[str] = []
        self._cache = QueryCache(self._evaluate, lambda: self.now)

    async def _evaluate(self, query: str) -> bool:
        self.now += timedelta(milliseconds=10)
        self.evaluated.append(query)
        result = self.results.get(query, True)
        if isinstance(result, str):
            raise TerminalError(result)
        return result

    def ask(self, query: str, *, after: float = 0.0) -> bool | str:
        """The answer, or why there is none."""
        self.now += timedelta(seconds=after)
        try:
            return asyncio.run(self._cache.ask(query))
        except OLMError as error:
            return error.message


@pytest.fixture
def store() -> Store:
    return Store()


def test_an_evaluation_waits_a_second_after_the_one_before(store: Store) -> None:
    assert store.ask("a") is True
    assert store.ask("b", after=0.5) == "evaluation is throttled until 00:00:01Z"
    assert store.ask("a") is True
    assert store.ask("b", after=1) is True
    assert store.evaluated == ["a", "b"]


def test_whoever_waits_longest_is_next(store: Store) -> None:
    store.ask("a")
    store.ask("b", after=0.2)
    store.ask("c", after=0.2)
    assert store.ask("c", after=1) == "evaluation is throttled"
    assert store.ask("c", after=2) is True
    assert store.evaluated == ["a", "b", "c"]


def test_answers_are_cached_for_an_hour(store: Store) -> None:
    store.ask("a")
    store.results["a"] = False
    assert store.ask("a", after=0.5) is True
    assert store.ask("a", after=1800) is True
    assert store.ask("a", after=1900) is False


def test_errors_are_cached_as_answers_are(store: Store) -> None:
    store.results["a"] = "boom"
    assert [store.ask("a"), store.ask("a", after=0.5)] == ["boom", "boom"]
    assert store.evaluated == ["a"]


def test_a_question_without_an_answer_does_not_wait_for_fresh_ones(store: Store) -> None:
    store.ask("a")
    store.ask("a", after=0.5)  # waits for its next evaluation, in an hour
    assert store.ask("b", after=2) is True


def test_what_nobody_asks_for_is_forgotten_after_a_day(store: Store) -> None:
    store.ask("a")
    store.ask("b", after=0.5)
    assert store.ask("c", after=25 * 3600) is True
    assert store.evaluated == ["a", "c"]
