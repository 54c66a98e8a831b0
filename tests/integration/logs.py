"""What the programs of a test run wrote into their logs."""

from collections.abc import Iterator
from pathlib import Path

TRACEBACK = "Traceback (most recent call last)"
SHOWN_LINES = 30


def tracebacks(folder: Path) -> list[str]:
    """The first traceback of each log under a folder, with the name of the log before it."""
    return [text for log in sorted(folder.rglob("*.log")) for text in _first(log)]


def _first(log: Path) -> Iterator[str]:
    lines = log.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines):
        if TRACEBACK in line:
            shown = lines[max(number - 1, 0) : number + SHOWN_LINES]
            yield "\n".join([f"{log}:{number + 1}", *shown])
            return
