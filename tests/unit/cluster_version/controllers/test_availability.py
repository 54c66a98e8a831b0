"""When an update service is asked, and what becomes of the lists where it fails."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from cluster_version.controllers.availability import MAX_AGE, Availability, Sources, Wanted
from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.retrieval import Question
from cluster_version.updates.weighing import Weighing
from olm_runtime.errors import TransientError

LONG, SHORT = 1000.0, 0.01
QUESTION = Question(
    "https://service", "11111111-2222-4333-8444-555555555555", "amd64", "stable", "1.0.0"
)
RISK = {
    "name": "Slow",
    "message": "It is slow.",
    "url": "https://example.com/slow",
    "matchingRules": [{"type": "PromQL", "promql": {"promql": "slow"}}],
}


class World:
    """A service and a metrics store under the test's control."""

    def __init__(self, interval: float) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.updates = ["1.0.1"]
        self.risks: dict[str, list[dict[str, Any]]] = {}
        self.error: RetrievalError | None = None
        self.exposed: bool | None = False
        self.asked: list[str] = []
        self.queries: list[str] = []
        self.alerts: list[dict[str, Any]] | None = []
        self.hold: asyncio.Event | None = None
        self._notified = asyncio.Event()
        self.availability = Availability(
            Sources(self._get, self._ask, self._alerts),
            interval=interval,
            jitter=lambda: 0.5,
            clock=lambda: self.now,
            notify=self._notified.set,
        )

    async def _get(self, url: str) -> bytes:
        self.asked.append(url)
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        versions = ["1.0.0", *self.updates, *self.risks]
        return orjson.dumps(
            {
                "nodes": [{"version": each, "payload": f"image:{each}"} for each in versions],
                "edges": [[0, place + 1] for place in range(len(self.updates))],
                "conditionalEdges": [
                    {"edges": [{"from": "1.0.0", "to": each}], "risks": risks}
                    for each, risks in self.risks.items()
                ],
            }
        )

    async def _ask(self, query: str) -> bool:
        self.queries.append(query)
        if self.exposed is None:
            raise TransientError(f"no answer to {query}")
        return self.exposed

    async def _alerts(self) -> list[dict[str, Any]]:
        if self.alerts is None:
            raise TransientError("no answer")
        return self.alerts

    def follow(self, **change: Any) -> None:
        self.availability.follow(Wanted(replace(QUESTION, **change), "amd64"))

    async def has_asked(self, times: int) -> None:
        async with asyncio.timeout(60):
            while len(self.asked) < times:  # noqa: ASYNC110 - it signals nobody
                await asyncio.sleep(0)

    async def changed(self) -> dict[str, Any]:
        """The status after the next change."""
        async with asyncio.timeout(60):
            await self._notified.wait()
        self._notified.clear()
        return self.status()

    async def once_retrieved(self, condition: str) -> dict[str, Any]:
        """The status once RetrievedUpdates has a status."""
        while True:
            status = await self.changed()
            if status["conditions"][0]["status"] == condition:
                return status

    def status(self, before: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.availability.put_into(before or {"availableUpdates": None}, self.now)


@pytest.fixture
async def slow() -> AsyncIterator[World]:
    async for world in _running(LONG):
        yield world


@pytest.fixture
async def quick() -> AsyncIterator[World]:
    async for world in _running(SHORT):
        yield world


async def _running(interval: float) -> AsyncIterator[World]:
    world = World(interval)
    task = asyncio.create_task(world.availability.run())
    yield world
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def versions(status: dict[str, Any]) -> list[str]:
    return [each["version"] for each in status["availableUpdates"] or ()]


async def test_nothing_is_written_before_there_is_an_answer(slow: World) -> None:
    before = {"availableUpdates": [{"version": "1.0.5"}]}
    slow.hold = asyncio.Event()
    slow.follow()
    assert slow.status(before) == before
    slow.hold.set()
    assert versions(await slow.changed()) == ["1.0.1"]
    slow.hold.clear()
    slow.follow(channel="fast")
    assert slow.status(before) == before, "it is no answer for another channel"


@pytest.mark.parametrize(
    "change",
    [
        {"channel": "fast"},
        {"service": "https://other"},
        {"architecture": "Multi"},
        {"version": "1.0.1"},
    ],
)
async def test_another_setting_is_asked_at_once(slow: World, change: dict[str, str]) -> None:
    slow.hold = asyncio.Event()
    slow.follow()
    await slow.has_asked(1)
    slow.follow(**change)
    slow.follow(**change)
    await slow.has_asked(2)  # the question before is not waited for
    slow.hold.set()
    await slow.changed()
    assert len(slow.asked) == 2


@pytest.mark.parametrize("reason", ["RemoteFailed", "ResponseFailed", "ResponseInvalid"])
async def test_lists_outlast_failures_for_a_day(quick: World, reason: str) -> None:
    quick.follow()
    await quick.once_retrieved("True")
    quick.error = RetrievalError(reason, "no")
    status = await quick.once_retrieved("False")
    assert versions(status) == ["1.0.1"]
    [condition] = status["conditions"]
    assert (condition["reason"], condition["message"]) == (
        reason,
        "Unable to retrieve available updates: no",
    )
    quick.now += MAX_AGE - timedelta(seconds=1)
    await asyncio.sleep(5 * SHORT)
    assert versions(quick.status()) == ["1.0.1"]
    quick.now += timedelta(seconds=2)
    while versions(quick.status()):
        await quick.changed()


async def test_lists_end_where_the_version_is_not_in_the_graph(quick: World) -> None:
    quick.follow()
    await quick.once_retrieved("True")
    quick.error = RetrievalError("VersionNotFound", "no")
    assert versions(await quick.once_retrieved("False")) == []


async def test_lists_are_not_retained_for_another_channel(slow: World) -> None:
    slow.follow()
    await slow.changed()
    slow.error = RetrievalError("RemoteFailed", "no")
    slow.follow(channel="fast")
    assert versions(await slow.changed()) == []


async def test_risks_are_looked_at_again_without_asking_the_service(
    slow: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster_version.controllers.availability.AGAIN_SECONDS", SHORT)
    slow.risks = {"1.0.2": [RISK]}
    slow.exposed = None
    slow.follow()
    status = await slow.changed()
    assert versions(status) == ["1.0.1"]
    [update] = status["conditionalUpdates"]
    assert update["conditions"][0]["status"] == "Unknown"
    slow.exposed, slow.now = False, slow.now + timedelta(seconds=5)
    await slow.changed()
    after = slow.status(status)
    assert versions(after) == ["1.0.2", "1.0.1"]
    [condition] = after["conditionalUpdates"][0]["conditions"]
    assert (condition["status"], condition["lastTransitionTime"]) == (
        "True",
        "2026-01-01T00:00:05Z",
    )
    assert len(slow.asked) == 1
    assert slow.status(after) == after, "times are preserved"


@pytest.mark.parametrize("is_hosted", [True, False])
async def test_a_store_of_several_clusters_is_asked_about_one(slow: World, is_hosted: bool) -> None:
    query = 'up{_id="",job="a"} or down{_id=""}'
    rule = {"type": "PromQL", "promql": {"promql": query}}
    slow.risks = {"1.0.2": [{**RISK, "matchingRules": [rule]}]}
    slow.follow(is_hosted=is_hosted)
    await slow.changed()
    name = f'_id="{QUESTION.cluster_id}"'
    assert slow.queries == [query.replace('_id=""', name) if is_hosted else query]


async def test_what_is_weighed_anew_asks_no_service(slow: World) -> None:
    slow.risks = {"1.0.2": [RISK]}
    slow.exposed = True
    slow.follow()
    assert versions(await slow.changed()) == ["1.0.1"]
    wanted = Wanted(QUESTION, "amd64", Weighing(frozenset({"Slow"})))
    slow.availability.follow(wanted)
    status = await slow.changed()
    assert versions(status) == ["1.0.2", "1.0.1"]
    [risk] = status["conditionalUpdateRisks"]
    assert (risk["name"], risk["conditions"][0]["status"]) == ("Slow", "True")
    slow.availability.follow(replace(wanted, weighing=None))
    assert versions(await slow.changed()) == ["1.0.1"]
    assert "conditionalUpdateRisks" not in slow.status(status)
    assert len(slow.asked) == 1


async def test_alerts_are_risks_of_every_update(quick: World) -> None:
    labels = {"alertname": "Slow", "severity": "critical"}
    quick.alerts = [{"labels": labels, "state": "firing", "annotations": {"summary": "It is"}}]
    wanted = Wanted(QUESTION, "amd64", Weighing())
    quick.availability.follow(wanted)
    status = await quick.changed()
    assert versions(status) == []
    [condition] = status["conditionalUpdateRisks"][0]["conditions"]
    assert (condition["status"], condition["reason"]) == ("True", "Alert:firing")
    [condition] = status["conditionalUpdates"][0]["conditions"]
    assert condition["message"].startswith("It is. https://")
    quick.alerts = None
    accepting = replace(wanted, weighing=Weighing(frozenset({"Slow"})))
    quick.availability.follow(accepting)
    assert versions(await quick.changed()) == ["1.0.1"], "the alerts of before count"
    quick.alerts = []
    while "conditionalUpdateRisks" in await quick.changed():
        pass
    quick.availability.follow(replace(wanted, weighing=None))


@pytest.mark.parametrize("lack", ["name", "message", "url"])
async def test_what_the_api_server_would_refuse_is_in_no_list(slow: World, lack: str) -> None:
    slow.risks = {"1.0.2": [{**RISK, lack: ""}], "1.0.3": [RISK, RISK]}
    slow.exposed = True
    slow.follow()
    status = await slow.changed()
    assert versions(status) == ["1.0.1"]
    assert "conditionalUpdates" not in status


async def test_known_releases_begin_with_the_current_one(slow: World) -> None:
    assert list(slow.availability.known) == []
    assert slow.availability.retrieved is None
    slow.risks = {"1.0.2": [RISK]}
    slow.follow()
    await slow.changed()
    found = [release.version for release in slow.availability.known]
    assert found == ["1.0.0", "1.0.1", "1.0.2"]
    assert slow.availability.retrieved == slow.now.timestamp()
