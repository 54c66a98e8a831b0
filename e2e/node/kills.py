"""The processes of pods, and their end as by a crash: by a signal that no program announces."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from e2e.node import cgroups

OTHERS = ("pause", "runc")
"""What holds a pod's namespaces open, and what starts a container and goes."""


def processes(uid: str) -> list[int]:
    """The processes of a pod's containers, without what holds the pod's namespaces open."""
    groups = [group for root in cgroups.roots() for group in root.rglob(f"pod{uid}/*/cgroup.procs")]
    found: set[int] = set()
    for group in groups:
        with suppress(OSError):  # a container that ends
            found.update(map(int, group.read_text().split()))
    named = {pid: _name(pid) for pid in found}
    return sorted(pid for pid, name in named.items() if name and not name.startswith(OTHERS))


def kill_pod(uid: str) -> None:
    """SIGKILL for every process of a pod's containers. Errors: LookupError if it has none.

    The pod keeps its address, because what holds its namespaces open stays.
    """
    pids = processes(uid)
    if not pids:
        raise LookupError(f"the pod {uid} has no processes")
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _name(pid: int) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""
