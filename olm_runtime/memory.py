"""Keeps a long-running process small: glibc keeps what was freed, and an arena for each thread."""

import ctypes
import gc
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

_ARENAS = -8
"""M_ARENA_MAX of mallopt(3)."""
_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of mallopt(3)."""
LARGE_BYTES = 128 * 1024
TIDY_SECONDS = 10.0
WORTH_TIDYING_SECONDS = 0.3
"""Processor time in which garbage worth looking for comes up; at rest that takes minutes."""

TIMES_THE_COST = 20
"""So much else is done between two times while there is work."""
TIMES_THE_COST_OF_ALL = 100
"""The same where all objects are looked at, for which everything stops."""
TIMES_THE_COST_AT_REST = 4

_OLDEST = 2
"""The generation of the collector that stands for all objects."""


def share_one_arena() -> None:
    """Lets all threads allocate from one heap; before any thread is started.

    Threads here wait far more than they allocate; a heap of its own for each keeps megabytes.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_ARENAS, 1)


def keep_large_blocks_apart() -> None:
    """Lets large blocks be mapped each by itself, as at the start, however many were freed.

    uvloop reserves 256 KiB for each TLS connection and fills little of it. Mapped by itself, only
    what is filled takes memory; taken from what others freed, all of it does.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)


def settle() -> None:
    """What is there now stays: the collector need not look at it again, which makes it quick."""
    gc.collect()
    gc.freeze()


def return_unused() -> None:
    """Collects garbage and gives free memory back to the system; milliseconds once settled.

    Closed TLS connections are cycles, which the collector by itself gets to after very many.
    """
    gc.collect()
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


@dataclass(slots=True)
class _Pass:
    """When memory was last returned in one way, in processor seconds of the process, and at what
    cost."""

    at: float
    cost: float = 0.0


async def keep_small() -> NoReturn:
    """Gives back from time to time what was taken for a while, once all that stays is there.

    What has survived a look of the collector at all objects is left out of the next: else each
    stops everything for the longer, the more there is. When there is nothing else to do all of it
    is looked at.
    """
    import asyncio  # late: processes without a loop would wait for it

    settle()
    gc.callbacks.append(_leave_out_survivors)
    looked = time.process_time()
    of_all, of_new = _Pass(looked), _Pass(looked)
    try:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            now = time.process_time()
            lately, looked = now - looked, now
            if is_worth_tidying(now - of_all.at, lately, of_all.cost, TIMES_THE_COST_OF_ALL):
                gc.unfreeze()
                of_all.cost = await asyncio.to_thread(_returned)
                of_all.at = of_new.at = looked = time.process_time()
            elif is_worth_tidying(now - of_new.at, lately, of_new.cost, TIMES_THE_COST):
                of_new.cost = await asyncio.to_thread(_returned)
                of_new.at = looked = time.process_time()
    finally:
        gc.callbacks.remove(_leave_out_survivors)


def _leave_out_survivors(phase: str, info: Mapping[str, Any]) -> None:
    """Called by the collector."""
    if phase == "stop" and info["generation"] == _OLDEST:
        gc.freeze()


def _returned() -> float:
    """Processor seconds that it took this thread to return what is unused."""
    began = time.thread_time()
    return_unused()
    return time.thread_time() - began


def is_worth_tidying(used: float, lately: float, cost: float, times: float) -> bool:
    """Whether to, by processor seconds since the last time and since the last look.

    `cost` is what the last time took: it grows with all that is there, so that a large process that
    is busy must not do it before `times` as much else was done. When it is calm again it does.
    """
    busy = lately > WORTH_TIDYING_SECONDS
    return used > max(WORTH_TIDYING_SECONDS, (times if busy else TIMES_THE_COST_AT_REST) * cost)


def _function(name: str) -> "ctypes._NamedFuncPointer | None":
    """A function of the C library; None where it has none of that name, as musl has not."""
    return getattr(ctypes.CDLL(None), name, None)
