"""What a process and all its children use, read from /proc."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from olm_catalogs.io.fork_client import IDLE_SECONDS
from olm_runtime.memory import TIDY_SECONDS
from tests.bench.processes import TICKS, kilobytes, resident_mib, stat_fields

LOOKS_A_PSS = 5
"""It is looked up seldomer, for the kernel has to walk over all pages for it."""
SETTLE_SECONDS = TIDY_SECONDS + 5


@dataclass(slots=True)
class Usage:
    """Of a process tree: seconds of processor time, and the most memory at one moment, in MiB.

    `peak` counts what processes share for each of them, `peak_pss` once.
    """

    cpu: float = 0.0
    peak: float = 0.0
    peak_pss: float = 0.0


def memory(pid: int) -> float:
    """Resident MiB of the process and all below it, together."""
    return sum(map(resident_mib, _tree(pid)))


def at_rest(pid: int) -> dict[str, float]:
    """MiB of the process tree, once unused memory is given back and helpers have ended."""
    latest = time.monotonic() + IDLE_SECONDS + SETTLE_SECONDS
    time.sleep(SETTLE_SECONDS)
    while len(_tree(pid)) > 1 and time.monotonic() < latest:
        time.sleep(1.0)
    return {"mib": round(memory(pid), 1), "pss_mib": round(proportional(pid), 1)}


async def timed(pid: int, work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """How long `work` took, and what the process tree used meanwhile."""
    usage = Usage()
    watching = asyncio.ensure_future(_watch(pid, usage))
    started = time.perf_counter()
    await work()
    took = time.perf_counter() - started
    await asyncio.sleep(0.1)
    watching.cancel()
    return {
        "seconds": round(took, 3),
        "cpu_s": round(usage.cpu, 2),
        "peak_mib": round(usage.peak),
        "peak_pss_mib": round(usage.peak_pss),
    }


async def _watch(pid: int, usage: Usage) -> None:
    start = processor(pid)
    for look in count():
        try:
            usage.peak = max(usage.peak, memory(pid))
            usage.cpu = processor(pid) - start
            if look % LOOKS_A_PSS == 0:
                usage.peak_pss = max(usage.peak_pss, proportional(pid))
        except OSError:
            continue
        finally:
            await asyncio.sleep(0.02)


def proportional(pid: int) -> float:
    """MiB of the process and all below it; what several share counts once."""
    return sum(kilobytes(each, "smaps_rollup", "Pss") for each in _tree(pid)) / 1024


def processor(pid: int) -> float:
    """Seconds of processor time of the process and all below it, with ended children."""
    return sum(map(_processor, _tree(pid)))


def _processor(pid: int) -> float:
    return sum(map(int, stat_fields(pid)[11:15])) / TICKS


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += _tree(int(child))
    return found
