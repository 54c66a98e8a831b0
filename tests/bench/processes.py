"""What processes have used, read from /proc."""

import os
from pathlib import Path

from e2e.harness.process import ChildProcess

TICKS = os.sysconf("SC_CLK_TCK")


def pid_of(child: ChildProcess | None) -> int:
    """Of a program that runs. Errors: RuntimeError, ProcessFailed."""
    if child is None:
        raise RuntimeError("the program was never started")
    child.require_running()
    return child.pid or 0


def cpu_seconds(child: ChildProcess) -> float:
    """User and system time of a process."""
    return sum(map(int, stat_fields(child.pid)[11:13])) / TICKS


def status_mib(child: ChildProcess, name: str) -> float:
    """A size from /proc/PID/status: VmRSS now, VmHWM at most so far."""
    return kilobytes(child.pid, "status", name) / 1024


def resident_mib(pid: int | None) -> float:
    """The resident set of a process."""
    return kilobytes(pid, "status", "VmRSS") / 1024


def stat_fields(pid: int | None) -> list[str]:
    """/proc/PID/stat from the state on: the field that the manual numbers 3 is the first."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def kilobytes(pid: int | None, file: str, name: str) -> int:
    """A line of one of the process's files; 0 where there is none, as of one that has ended."""
    for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
