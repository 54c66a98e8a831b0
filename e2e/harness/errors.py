"""What can go wrong in the harness.

    HarnessError
    ├── BinaryUnavailable    an executable is neither there nor can be built
    ├── BuildFailed          the Go build of one failed
    ├── ProcessFailed        a started process ended, or was not ready in time
    ├── CommandFailed        a finished command answered with an error
    ├── RegistryFailed       the registry refused an upload or a download
    └── CannotRun            this machine is not one on which it can be tried

Messages are for the person at the terminal: what failed, where the log is, what to do.
"""

from collections.abc import Sequence
from pathlib import Path

TAIL_LINES = 15


class HarnessError(Exception):
    """Base of all errors of the harness."""


class BinaryUnavailable(HarnessError):  # noqa: N818 - a state, as the tree above names it
    """An executable is neither there nor can be built."""


class BuildFailed(HarnessError):  # noqa: N818
    """The Go build of an executable failed; the message has the end of the build log."""


class ProcessFailed(HarnessError):  # noqa: N818
    """A started process ended, or was not ready in time; the message has the end of its log."""


class RegistryFailed(HarnessError):  # noqa: N818
    """The registry refused an upload or a download."""


class CannotRun(HarnessError):  # noqa: N818
    """This machine lacks what it takes: nothing was tried, so nothing failed."""


class CommandFailed(HarnessError):  # noqa: N818
    """A command ended with an error; `returncode`, `stdout` and `stderr` are what it left."""

    def __init__(self, argv: Sequence[str], *, returncode: int, stdout: str, stderr: str) -> None:
        self.argv = tuple(argv)
        self.returncode = returncode
        self.stdout = stdout
        self.stderr = stderr
        said = stderr.strip() or stdout.strip() or "it printed nothing"
        super().__init__(f"{' '.join(argv)}: exit code {returncode}: {said}")


def log_tail(log: Path) -> str:
    """The end of a log, indented for a message; says so when there is none."""
    if not log.is_file():
        return "  (no log was written)"
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return "\n".join(f"  {line}" for line in lines) or "  (the log is empty)"
