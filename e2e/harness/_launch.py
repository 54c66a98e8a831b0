"""Becomes another program that dies with its parent: `_launch.py PARENT_PID PROGRAM [ARGUMENT...]`.

Run as a script in a fresh interpreter, because the request to be killed with the parent has to be
made by the child itself, and running Python between fork and exec of a process with threads can
deadlock. The request survives exec, so what runs in the end is the program alone.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent ends; exit if it has ended before the request.

    Systems other than Linux have no such request: there a killed parent leaves its children.
    """
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"prctl(PR_SET_PDEATHSIG): {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("the parent ended before the program was started")


def main() -> None:
    """Tie this process to its parent, then become the program."""
    die_with_parent(int(sys.argv[1]))
    argv = sys.argv[2:]
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        sys.exit(f"cannot start {argv[0]}: {error}")


if __name__ == "__main__":
    main()
