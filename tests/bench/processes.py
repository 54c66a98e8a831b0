"""What processes have used."""

import os
from pathlib import Path

from e2e.harness.process import ChildProcess

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(child: ChildProcess) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def status_mib(child: ChildProcess, name: str) -> float:
    """A size from /proc/PID/status: VmRSS now, VmHWM at most so far."""
    for line in Path(f"/proc/{child.pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    return 0.0
