"""How often the API server is asked who may read the metrics."""

import asyncio
from typing import Any, cast

import pytest

from olm_runtime.kube.callers import BURST, PER_SECOND, REMEMBER_SECONDS, Callers
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError


class Server:
    """Knows tokens that begin with `good` and `bare`; the latter may do nothing."""

    def __init__(self) -> None:
        self.reviewed: list[str] = []
        self.away = False

    async def create(self, review: dict[str, Any], **_: object) -> dict[str, Any]:
        if self.away:
            raise ApiError("connection refused")
        spec = review["spec"]
        if review["kind"] == "SubjectAccessReview":
            return {"status": {"allowed": spec["user"].startswith("good")}}
        await asyncio.sleep(0)
        self.reviewed.append(spec["token"])
        known = spec["token"].startswith(("good", "bare"))
        return {"status": {"authenticated": known, "user": {"username": spec["token"]}}}


class World:
    def __init__(self) -> None:
        self.server, self.now = Server(), 1000.0
        self.callers = Callers(
            cast("KubeClient", self.server), field_manager="test", clock=lambda: self.now
        )

    async def judge(self, *tokens: str) -> list[int]:
        return list(await asyncio.gather(*map(self.callers.judge, tokens)))


@pytest.fixture
def world() -> World:
    return World()


async def test_who_is_known_and_who_may(world: World) -> None:
    assert await world.judge("good", "bare", "bad") == [200, 403, 401]
    world.server.away = True
    assert await world.judge("good", "new") == [200, 500]
    world.server.away = False
    assert await world.judge("new") == [401], "what could not be found out is not remembered"


async def test_one_token_is_asked_about_once_a_while(world: World) -> None:
    assert await world.judge(*["good"] * 50) == [200] * 50
    world.now += REMEMBER_SECONDS - 1
    assert await world.judge("good") == [200]
    assert world.server.reviewed == ["good"]
    world.now += 2
    await world.judge("good")
    assert world.server.reviewed == ["good"] * 2


async def test_a_flood_of_made_up_tokens_costs_a_bounded_number_of_reviews(world: World) -> None:
    seconds = 30
    for second in range(seconds):
        await world.judge(*(f"bad-{second}-{number}" for number in range(1000)))
        world.now += 1
    assert BURST <= len(world.server.reviewed) <= BURST + seconds * PER_SECOND


async def test_a_flood_is_refused_and_keeps_out_nobody_who_was_let_in(world: World) -> None:
    assert await world.judge("good") == [200]
    for _ in range(int(3 * REMEMBER_SECONDS)):
        answers = await world.judge(*(f"bad-{world.now}-{number}" for number in range(100)))
        assert set(answers) <= {401, 429}
        assert await world.judge("good") == [200]
        world.now += 1
    assert 3 <= world.server.reviewed.count("good") <= 4
