"""A limit of memory for a process that runs: by a control group, which only root can make."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.harness.process import ChildProcess

MOUNTED = Path("/sys/fs/cgroup")


@contextmanager
def limited(name: str, child: ChildProcess, size: int) -> Iterator[None]:
    """While this lasts the process may use so many bytes; with more the kernel ends it.

    Raises OSError where no control group can be made.
    """
    unified = (MOUNTED / "cgroup.controllers").exists()
    root = MOUNTED if unified else MOUNTED / "memory"
    group = root / name
    group.mkdir(exist_ok=True)
    (group / ("memory.max" if unified else "memory.limit_in_bytes")).write_text(str(size))
    (group / "cgroup.procs").write_text(str(child.pid))
    try:
        yield
    finally:
        for pid in (group / "cgroup.procs").read_text().split():
            (root / "cgroup.procs").write_text(pid)
        group.rmdir()
