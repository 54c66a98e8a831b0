"""Keeps a long-running process small: glibc keeps what was freed, and an arena for each thread."""

import ctypes
import gc
import time
from typing import NoReturn

_ARENAS = -8
"""M_ARENA_MAX of mallopt(3)."""
_MMAP_THRESHOLD = -3
"""M_MMAP_THRESHOLD of mallopt(3)."""
LARGE_BYTES = 128 * 1024
YOUNG_LOOKS = 300
"""Looks at young objects before one at all, which Python makes after ten: with a thousand
extensions each holds up the event loop for a quarter of a second, a quarter of a restart in all."""
TIDY_SECONDS = 10.0
WORTH_TIDYING_SECONDS = 0.3
"""Processor time in which garbage worth looking for comes up; at rest that takes minutes."""

TIMES_THE_COST = 20
"""So much else is done between two times while there is work."""


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


def look_seldom_at_all() -> None:
    """Leaves the cycles among objects that have lived for a while to `return_unused`."""
    youngest, young, _ = gc.get_threshold()
    gc.set_threshold(youngest, young, YOUNG_LOOKS)


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


async def keep_small() -> NoReturn:
    """Gives back from time to time what was taken for a while, once all that stays is there."""
    import asyncio  # late: processes without a loop would wait for it

    settle()
    look_seldom_at_all()
    tidied = looked = time.process_time()
    cost = 0.0
    while True:
        await asyncio.sleep(TIDY_SECONDS)
        now = time.process_time()
        if is_worth_tidying(now - tidied, lately=now - looked, cost=cost):
            cost = await asyncio.to_thread(_returned)
            tidied = time.process_time()
        looked = time.process_time()


def _returned() -> float:
    """Processor seconds that it took this thread to return what is unused."""
    began = time.thread_time()
    return_unused()
    return time.thread_time() - began


def is_worth_tidying(used: float, *, lately: float, cost: float) -> bool:
    """Whether to, by processor seconds since the last time and since the last look.

    `cost` is what the last time took: it grows with all that is there, so that a large process that
    is busy must not do it at each look. When it is calm again it does.
    """
    busy = lately > WORTH_TIDYING_SECONDS
    return used > max(WORTH_TIDYING_SECONDS, TIMES_THE_COST * cost if busy else 0.0)


def _function(name: str) -> "ctypes._NamedFuncPointer | None":
    """A function of the C library; None where it has none of that name, as musl has not."""
    return getattr(ctypes.CDLL(None), name, None)
