"""What a process and all its children use, read from /proc."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Usage:
    """Of a process tree: seconds of processor time, and the most memory at one moment, in MiB."""

    cpu: float = 0.0
    peak: float = 0.0


def memory(pid: int) -> float:
    """Resident MiB of the process and all below it, together."""
    return sum(map(_resident, _tree(pid)))


async def timed(pid: int, work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    """How long `work` took, and what the process tree used meanwhile."""
    usage = Usage()
    watching = asyncio.ensure_future(_watch(pid, usage))
    started = time.perf_counter()
    await work()
    took = time.perf_counter() - started
    await asyncio.sleep(0.1)
    watching.cancel()
    return {"seconds": round(took, 2), "cpu_s": round(usage.cpu, 2), "peak_mib": round(usage.peak)}


async def _watch(pid: int, usage: Usage) -> None:
    start = processor(pid)
    while True:
        try:
            usage.peak = max(usage.peak, memory(pid))
            usage.cpu = processor(pid) - start
        except OSError:
            continue
        finally:
            await asyncio.sleep(0.02)


def processor(pid: int) -> float:
    """Seconds of processor time: the process's own and that of ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100


def _tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += _tree(int(child))
    return found


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0
