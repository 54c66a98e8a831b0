"""A box for a node: namespaces of its own for processes, network, mounts, host name and IPC.

Links, routes, nftables, mounts, pods and their processes are made in these namespaces and end with
them, however a run ends: the kernel kills whatever is left when the first process of the box dies,
and that one dies with us. Only control groups are the machine's own: see cgroups.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from e2e.harness.errors import HarnessError
from e2e.harness.gobuild import cache_folder
from e2e.harness.process import LAUNCHER
from e2e.node import cgroups

NAMESPACES = ("--pid", "--fork", "--kill-child", "--net", "--mount", "--uts", "--ipc")
IN_BOX = "OLMV1_IN_BOX"
LOCK = Path("/run/olmv1-node.lock")
"""The machine's own, as control groups are, and not the cache folder's."""
LOCK_SECONDS = 900.0
"""How long to wait while another box is open."""
LARGE = ("containerd", "kubelet")
OWN_FOLDERS = (Path("/var/lib/cni"), Path("/var/lib/kubelet"), Path("/var/log/containers"))
"""Folders that components write to without asking; in the box each is empty and in memory."""


def work_folder() -> Path:
    """Where a node in a box keeps its files: emptied before each run, and left afterwards.

    What is large, images and containers, goes when the box is closed.
    """
    return cache_folder() / "node" / "work"


def pid_file() -> Path:
    """Where the number of a process is, as the machine counts, that has the box's network."""
    return work_folder() / "box.pid"


def run_in_box(command: Sequence[str]) -> int:
    """Run a command in a new box and wait; its exit code. One box at a time on a machine.

    Errors: HarnessError if another box stays open.
    """
    unshare = shutil.which("unshare") or "unshare"
    launcher = (sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()))
    first = (sys.executable, "-m", "e2e.node.first_process", *command)
    signal.signal(signal.SIGTERM, _end)
    with _only_one(), _work(), _folders(), cgroups.of_the_node():
        environment = dict(os.environ) | {IN_BOX: "1"}
        box = subprocess.Popen((*launcher, unshare, *NAMESPACES, "--", *first), env=environment)
        pid_file().write_text(str(box.pid))
        try:
            return _wait(box)
        finally:
            box.kill()
            box.wait()


def in_box() -> bool:
    """Whether this process runs in a box."""
    return IN_BOX in os.environ


def _wait(box: "subprocess.Popen[bytes]") -> int:
    while True:  # the command has the terminal's Ctrl-C too, and ends in order
        try:
            return box.wait()
        except KeyboardInterrupt:
            continue


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)


@contextmanager
def _only_one() -> Iterator[None]:
    deadline = time.monotonic() + LOCK_SECONDS
    with LOCK.open("a") as file:
        while not _locked(file):
            if time.monotonic() > deadline:
                raise HarnessError(f"another node is running on this machine (it holds {LOCK})")
            time.sleep(1.0)
        yield


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _work() -> Iterator[None]:
    shutil.rmtree(work_folder(), ignore_errors=True)
    work_folder().mkdir(parents=True)
    try:
        yield
    finally:
        for name in LARGE:
            shutil.rmtree(work_folder() / name, ignore_errors=True)


@contextmanager
def _folders() -> Iterator[None]:
    made = [folder for folder in OWN_FOLDERS if not folder.exists()]
    for folder in made:
        folder.mkdir(parents=True)
    try:
        yield
    finally:
        for folder in made:
            folder.rmdir()
