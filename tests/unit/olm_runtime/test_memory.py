"""Memory goes back to the system."""

import subprocess
import sys
from pathlib import Path

import pytest

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
        pytest.param(1.0, 0.1, 0.5, True, id="the work is over"),
    ],
)
def test_tidying_costs_little_of_the_work_and_is_done_when_that_is_over(
    *, used: float, lately: float, cost: float, expected: bool
) -> None:
    assert is_worth_tidying(used, lately=lately, cost=cost) is expected


MANY_OBJECTS = """
import asyncio, gc
from olm_runtime.memory import keep_small

def looks_at_all():
    return gc.get_stats()[2]["collections"]

async def main():
    keeping = asyncio.create_task(keep_small())
    await asyncio.sleep(0)
    before = looks_at_all()
    kept = [[] for _ in range(500_000)]
    print(looks_at_all() - before)
    keeping.cancel()

asyncio.run(main())
"""


def test_as_a_program_comes_to_hold_much_its_loop_is_not_held_up_to_look_at_all_of_it() -> None:
    command = [sys.executable, "-c", MANY_OBJECTS]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "0\n"
