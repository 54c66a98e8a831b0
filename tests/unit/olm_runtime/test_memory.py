"""Memory goes back to the system."""

import asyncio
import gc
import weakref
from pathlib import Path

import pytest

from olm_runtime import memory
from olm_runtime.memory import is_worth_tidying, return_unused


def anonymous() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def test_what_was_freed_is_given_back() -> None:
    parts = [b"x" * 60_000 for _ in range(1000)]  # written to: zeros may take no memory
    full = anonymous()
    last = parts[-1]  # keeps the end of the heap, so that freeing alone gives nothing back
    del parts
    return_unused()
    assert anonymous() < full - 40_000
    assert last


@pytest.mark.parametrize(
    ("used", "lately", "cost", "expected"),
    [
        pytest.param(0.1, 0.1, 0.0, False, id="nothing was done"),
        pytest.param(1.0, 1.0, 0.0, True, id="work, and it costs little"),
        pytest.param(1.0, 1.0, 0.5, False, id="work, and it costs as much as the half of that"),
        pytest.param(11.0, 1.0, 0.5, True, id="work that lasts"),
        pytest.param(2.5, 0.1, 0.5, True, id="the work is over"),
        pytest.param(1.0, 0.1, 0.5, False, id="little was done, and it costs half of that"),
    ],
)
def test_tidying_costs_little_of_the_work_and_is_done_when_that_is_over(
    *, used: float, lately: float, cost: float, expected: bool
) -> None:
    assert is_worth_tidying(used, lately, cost, 20) is expected


class Node:
    """Part of a cycle that may be watched."""

    other: "Node"


def cycle() -> "weakref.ref[Node]":
    """A new one that nothing refers to, of which this tells whether it is there."""
    one, other = Node(), Node()
    one.other, other.other = other, one
    return weakref.ref(one)


async def test_what_survived_a_look_at_all_is_left_out_until_there_is_nothing_else_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "TIDY_SECONDS", 0.01)
    worth = False
    monkeypatch.setattr(memory, "is_worth_tidying", lambda *_: worth)
    keeping = asyncio.create_task(memory.keep_small())
    try:
        await asyncio.sleep(0)
        held = [Node()]
        held[0].other = held[0]
        survivor = weakref.ref(held[0])
        gc.collect()
        held.clear()
        new = cycle()
        gc.collect()
        assert new() is None
        assert survivor() is not None
        worth = True
        async with asyncio.timeout(30):
            while survivor() is not None:  # noqa: ASYNC110 - it goes without a word
                await asyncio.sleep(0.01)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        gc.unfreeze()
    gc.collect()
    assert not gc.get_freeze_count(), "it has ended"
