"""The control groups of the node's pods: the one thing that a box does not take with it.

The root group of the kubelet has to exist. With version 1 that is a group in each hierarchy, with
version 2 one group that has been given its controllers.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from e2e.harness.errors import HarnessError

MOUNTED = Path("/sys/fs/cgroup")
NAME = "olmv1-node"
PROBE = "olmv1-probe"
NEEDED = ("cpu", "cpuset", "memory", "pids")
SWEEP_SECONDS = 10.0


def problem() -> str | None:
    """What keeps this machine's control groups from being used, as "a node needs ...", or None."""
    if _unified():
        offered = (MOUNTED / "cgroup.controllers").read_text().split()
    else:
        offered = [path.name for path in MOUNTED.iterdir()] if MOUNTED.is_dir() else []
    if lacking := [controller for controller in NEEDED if controller not in offered]:
        return f"the cgroup controllers {', '.join(lacking)}"
    try:
        _make(PROBE)
    except OSError as error:
        # Version 2 hands no controllers on from a group that has processes of its own, unless it
        # is the machine's root: a container that sees its own group as the root cannot run a node.
        return f"to make control groups with controllers: {error}"
    finally:
        sweep(PROBE)
    return None


@contextmanager
def of_the_node() -> Iterator[None]:
    """The node's groups, empty; swept of what an earlier run left, and removed afterwards."""
    sweep(NAME)
    _make(NAME)
    try:
        yield
    finally:
        sweep(NAME)


def sweep(name: str) -> None:
    """End what still runs in groups of that name, and remove them. Errors: HarnessError."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while left := [root for root in roots(name) if not _removed(root)]:
        if time.monotonic() > deadline:
            raise HarnessError(f"cannot remove the control group {left[0]}: it is in use")
        time.sleep(0.1)


def _unified() -> bool:
    return (MOUNTED / "cgroup.controllers").is_file()


def roots(name: str = NAME) -> list[Path]:
    """The node's group in each hierarchy that has one."""
    hierarchies = [MOUNTED] if _unified() else MOUNTED.iterdir()
    return [path / name for path in hierarchies if (path / name).is_dir()]


def _make(name: str) -> None:
    if _unified():
        (MOUNTED / name).mkdir()
        for group in (MOUNTED, MOUNTED / name):
            asked = " ".join(f"+{controller}" for controller in NEEDED)
            (group / "cgroup.subtree_control").write_text(asked)
        return
    for hierarchy in MOUNTED.iterdir():
        if not hierarchy.is_symlink() and (hierarchy / "tasks").is_file():
            (hierarchy / name).mkdir()
    for file in ("cpuset.cpus", "cpuset.mems"):  # a new group may use nothing until this is set
        of_all = (MOUNTED / "cpuset" / file).read_text()
        (MOUNTED / "cpuset" / name / file).write_text(of_all)


def _removed(root: Path) -> bool:
    for folder, _, _ in os.walk(root, topdown=False):
        group = Path(folder)
        with suppress(FileNotFoundError, ProcessLookupError):
            for pid in (group / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
        with suppress(OSError):
            group.rmdir()
    return not root.exists()
