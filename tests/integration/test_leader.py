"""Leader election on a real API server: one at a time, whatever happens to the leader."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from api.objects import KubeObject
from olm_runtime.controller.leader import (
    LEASE,
    Elector,
    LeasePlace,
    LeaseTimes,
    LostLeadershipError,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

pytestmark = pytest.mark.integration

QUICK = LeaseTimes(duration=4.0, renew_deadline=3.0, retry=0.1)
PATIENCE = 60.0


class Candidate:
    """Runs for leader; knows whether it leads and how it ended."""

    def __init__(self, client: KubeClient, namespace: str, identity: str) -> None:
        place = LeasePlace(namespace, "lock")
        self.elector = Elector(client, lease=place, identity=identity, times=QUICK)
        self.leads = asyncio.Event()
        self.finish = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def work(self) -> None:
        self.leads.set()
        try:
            await self.finish.wait()
        finally:
            self.leads.clear()

    def start(self, work: Callable[[], Awaitable[None]] | None = None) -> "Candidate":
        self.task = asyncio.create_task(self.elector.run(work or self.work))
        return self

    async def end(self) -> None:
        """Waits for its end; raises what it ended with."""
        assert self.task is not None
        await self.task

    async def stop(self) -> None:
        assert self.task is not None
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@pytest.fixture
async def candidate(client: KubeClient, namespace: str) -> AsyncIterator[Callable[..., Candidate]]:
    made: list[Candidate] = []

    def make(identity: str, by: KubeClient = client) -> Candidate:
        made.append(Candidate(by, namespace, identity))
        return made[-1]

    async with asyncio.timeout(2 * PATIENCE):
        yield make
    for one in made:
        if one.task is not None:
            await one.stop()


async def lease(client: KubeClient, namespace: str) -> dict[str, Any]:
    spec: dict[str, Any] = (await client.get(LEASE, "lock", namespace))["spec"]
    return spec


async def test_the_lease_shows_who_leads_since_when_in_utc(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    leader = candidate("a").start()
    await leader.leads.wait()
    spec = await lease(client, namespace)
    assert spec["holderIdentity"] == "a"
    assert spec["leaseDurationSeconds"] == QUICK.duration
    assert spec["leaseTransitions"] == 0
    assert spec["acquireTime"].endswith("Z")
    before = spec["renewTime"]
    while (renewed := await lease(client, namespace))["renewTime"] == before:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert renewed["acquireTime"] == spec["acquireTime"]
    assert renewed["leaseTransitions"] == 0


async def test_the_next_one_leads_as_soon_as_the_leader_is_done(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    first = candidate("a").start()
    await first.leads.wait()
    second = candidate("b").start()
    await asyncio.sleep(0.3)
    assert not second.leads.is_set()
    first.finish.set()
    await first.end()
    await second.leads.wait()
    spec = await lease(client, namespace)
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("b", 1)


async def test_a_leader_that_is_stopped_gives_the_lease_back(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    first = candidate("a").start()
    await first.leads.wait()
    await first.stop()
    spec = await lease(client, namespace)
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("", 1)


async def test_the_lease_of_a_leader_that_died_is_taken_when_it_runs_out(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    place = LeasePlace(namespace, "lock")
    dead = Elector(client, lease=place, identity="dead", times=QUICK)
    assert await dead._attempt()
    heir = candidate("b").start()
    begun = asyncio.get_running_loop().time()
    await heir.leads.wait()
    assert asyncio.get_running_loop().time() - begun >= QUICK.duration
    assert (await lease(client, namespace))["leaseTransitions"] == 1


async def test_of_many_candidates_never_two_lead_at_once(
    client: KubeClient, candidate: Callable[..., Candidate]
) -> None:
    leading: set[int] = set()
    led: set[int] = set()

    def work(number: int) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            leading.add(number)
            led.add(number)
            assert leading == {number}
            await asyncio.sleep(0.15)
            assert leading == {number}
            leading.discard(number)

        return run

    candidates = [candidate(str(i)).start(work(i)) for i in range(5)]
    await asyncio.gather(*(c.end() for c in candidates))
    assert led == set(range(5))


class Flaky:
    """A client whose every request fails while it is set to."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.broken = asyncio.Event()
        self.failed = 0

    def _check(self) -> None:
        if self.broken.is_set():
            self.failed += 1
            raise ApiError("cannot reach the API server: injected")

    async def get(self, *arguments: Any, **options: Any) -> KubeObject:
        self._check()
        return await self._client.get(*arguments, **options)

    async def patch(self, *arguments: Any, **options: Any) -> Any:
        self._check()
        return await self._client.patch(*arguments, **options)

    async def create(self, *arguments: Any, **options: Any) -> Any:
        self._check()
        return await self._client.create(*arguments, **options)


async def test_a_leader_stays_leader_through_errors_shorter_than_its_deadline(
    client: KubeClient, candidate: Callable[..., Candidate]
) -> None:
    flaky = Flaky(client)
    leader = candidate("a", flaky).start()
    await leader.leads.wait()
    for _ in range(3):
        flaky.broken.set()
        await asyncio.sleep(0.4)
        flaky.broken.clear()
        await asyncio.sleep(0.4)
    assert flaky.failed >= 3
    assert leader.leads.is_set()


async def test_a_leader_that_cannot_renew_ends_before_its_lease_does(
    client: KubeClient, candidate: Callable[..., Candidate], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    flaky = Flaky(client)
    leader = candidate("a", flaky).start()
    await leader.leads.wait()
    flaky.broken.set()
    begun = asyncio.get_running_loop().time()
    with pytest.raises(LostLeadershipError, match="could not renew lease lock in time"):
        await leader.end()
    assert asyncio.get_running_loop().time() - begun < QUICK.duration
    assert not leader.leads.is_set()


async def test_a_leader_whose_lease_was_taken_ends_at_once(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    leader = candidate("a").start()
    await leader.leads.wait()
    record = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    thief = {**record, "metadata": {"name": "lock", "namespace": namespace}}
    await client.patch(thief, {"spec": {"holderIdentity": "thief"}})
    with pytest.raises(LostLeadershipError, match="lease lock is held by thief"):
        await leader.end()
    assert (await lease(client, namespace))["holderIdentity"] == "thief"


async def test_the_errors_of_the_work_are_not_hidden(
    client: KubeClient, namespace: str, candidate: Callable[..., Candidate]
) -> None:
    async def fail() -> None:
        raise ValueError("a bug")

    leader = candidate("a").start(fail)
    with pytest.raises(ExceptionGroup) as group:
        await leader.end()
    assert group.group_contains(ValueError, match="a bug")
    assert (await lease(client, namespace))["holderIdentity"] == ""


async def test_a_missing_namespace_is_made_only_where_that_is_wanted(client: KubeClient) -> None:
    """Who brings the namespace with what it installs must lead before it is there."""
    for wanted in (False, True):
        place = LeasePlace("not-there-yet", "lock", makes_namespace=wanted)
        elector = Elector(client, lease=place, identity="a", times=QUICK)
        assert await elector._acquired() is wanted
    spec = await lease(client, "not-there-yet")
    assert spec["holderIdentity"] == "a"
