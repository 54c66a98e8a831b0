"""Slots of requests: how many requests are sent at once, and which of them first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from olm_runtime.kube import request_slots
from olm_runtime.kube.request_slots import Asking, RequestSlots, asking
from olm_runtime.lanes import Place, Priority


def nothing() -> None:
    pass


class World:
    """Requests of one letter each, which are answered when that is said."""

    def __init__(self, slots: int, urgent_slots: int, patience: float) -> None:
        self.request_slots = RequestSlots(slots, urgent_slots, patience)
        self.sent = ""
        self.answers: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.afterwards: dict[str, Callable[[], object]] = {}
        """What is done the moment that a request has given its slot back."""

    def ask(self, name: str, priority: Priority | None = Priority.NORMAL) -> None:
        self.answers[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._send(name, priority))

    async def _send(self, name: str, priority: Priority | None) -> None:
        asking.set(None if priority is None else Asking(Place(priority, ord(name))))
        async with self.request_slots.slot():
            self.sent += name
            await self.answers[name].wait()
        self.afterwards.get(name, nothing)()

    async def answer(self, *names: str) -> None:
        for name in names:
            self.answers[name].set()
            await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def world(
    slots: int, *, urgent_slots: int = 8, patience: float = 60.0
) -> AsyncIterator[World]:
    made = World(slots, urgent_slots, patience)
    yield made
    for task in made.tasks.values():
        task.cancel()
    await asyncio.gather(*made.tasks.values(), return_exceptions=True)


async def test_so_many_are_sent_at_once() -> None:
    async with world(2) as it:
        for name in "abc":
            it.ask(name)
        await settled()
        assert it.sent == "ab"
        await it.answer("a")
        assert it.sent == "abc"


async def test_urgent_ones_do_not_wait_for_others() -> None:
    async with world(1, urgent_slots=1) as it:
        for name in "ab":
            it.ask(name)
        for name in "XY":
            it.ask(name, Priority.HIGH)
        await settled()
        assert it.sent == "aX"
        await it.answer("X")
        assert it.sent == "aXY"


async def test_fewer_others_are_sent_beside_urgent_ones() -> None:
    async with world(4, urgent_slots=2) as it:
        it.ask("X", Priority.HIGH)
        for name in "abcd":
            it.ask(name)
        await settled()
        assert it.sent == "Xab"


async def test_fewest_are_sent_beside_urgent_ones_of_a_few() -> None:
    async with world(16) as it:
        for name in "WXYZ":
            it.ask(name, Priority.HIGH)
        for name in "abcdefghi":
            it.ask(name)
        await settled()
        assert it.sent == "WXYZabc"
        it.ask("V", Priority.HIGH)
        await settled()
        await it.answer("a")
        assert sorted(it.sent) == list("VWXYZabcdefghi")


async def test_who_was_answered_counts_no_more_after_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_slots, "LINGER_SECONDS", 0.001)
    async with world(16) as it:
        it.ask("X", Priority.HIGH)
        await settled()
        await it.answer("X")
        await asyncio.sleep(0.01)
        for name in "abcdefghi":
            it.ask(name)
        await settled()
        assert it.sent == "Xabcdefghi"


async def test_one_without_a_place_waits_for_none() -> None:
    async with world(1) as it:
        for name in "ab":
            it.ask(name)
        it.ask("L", None)
        await settled()
        assert it.sent == "aL"


async def test_one_that_takes_long_holds_up_no_other() -> None:
    async with world(1, patience=0.001) as it:
        for name in "abc":
            it.ask(name)
        async with asyncio.timeout(60):
            while len(it.sent) < 3:  # noqa: ASYNC110 - what is waited for tells nobody
                await asyncio.sleep(0.001)


async def test_one_that_is_cancelled_gives_its_slot_or_its_turn_away() -> None:
    async with world(1) as it:
        for name in "abcd":
            it.ask(name)
        await settled()
        it.tasks["b"].cancel()
        it.tasks["a"].cancel()
        await settled()
        assert it.sent[1] in "cd"
        await it.answer(it.sent[1])
        assert sorted(it.sent) == list("acd")


async def test_one_that_is_cancelled_as_its_turn_comes_passes_it_on() -> None:
    async with world(1) as it:
        for name in "abc":
            it.ask(name)
        await settled()
        it.afterwards["a"] = it.tasks["c"].cancel
        await it.answer("a")
        assert it.sent == "ab"
