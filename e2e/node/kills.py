"""Ends containers as a crash does: by a signal to their processes, which nobody is told of."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from e2e.node import cgroups


def kill_pod(uid: str) -> None:
    """SIGKILL for every process of a pod's containers. Errors: LookupError if it has none."""
    groups = [group for root in cgroups.roots() for group in root.rglob(f"pod{uid}/*/cgroup.procs")]
    pids = {int(pid) for group in groups for pid in group.read_text().split()}
    if not pids:
        raise LookupError(f"the pod {uid} has no processes")
    for pid in pids:
        with suppress(ProcessLookupError, FileNotFoundError):
            # What holds the pod's namespaces open stays: without it the pod gets another address.
            if Path(f"/proc/{pid}/comm").read_text().strip() != "pause":
                os.kill(pid, signal.SIGKILL)
