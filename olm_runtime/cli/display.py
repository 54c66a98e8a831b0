"""Shows progress: redrawn in place on a terminal; elsewhere each new line once."""

import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click

_UP_AND_CLEAR = "\x1b[{}A\x1b[J"
_MARKS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class LiveDisplay:
    """Shows a few lines again and again on a stream; by default standard error."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._frame = 0
        self._printed: list[str] = []

    @property
    def is_live(self) -> bool:
        """Whether lines are redrawn in place."""
        return self._live

    def show(self, lines: Sequence[str], *, seconds: float | None = None) -> None:
        """Replaces what was shown; `seconds` since the beginning are shown on terminals only."""
        if self._live:
            head = [] if seconds is None else [f"{self._mark()} {seconds:.0f} s"]
            self._redraw([*head, *lines])
            return
        for line in lines:
            if line not in self._printed:
                click.echo(line, file=self._stream)
        self._printed = list(lines)

    def end(self) -> None:
        """Clears what was shown on a terminal, so that the result replaces it."""
        if self._live:
            self._redraw([])

    def _mark(self) -> str:
        self._frame += 1
        return _MARKS[self._frame % len(_MARKS)]

    def _redraw(self, lines: Sequence[str]) -> None:
        import shutil  # late: only on terminals

        size = shutil.get_terminal_size()
        # What is taller than the terminal could not be taken back line by line.
        shown = [_cut(line, size.columns) for line in lines][: max(1, size.lines - 1)]
        back = _UP_AND_CLEAR.format(self._drawn) if self._drawn else ""
        self._stream.write(back)  # not by click, which strips it where no colours are wanted
        click.echo("".join(f"{line}\n" for line in shown), file=self._stream, nl=False)
        self._drawn = len(shown)


def _cut(line: str, columns: int) -> str:
    """A line that takes one row; styled text is measured without its escapes."""
    if len(click.unstyle(line)) <= columns:
        return line
    return click.unstyle(line)[: columns - 1] + "…"


def wrapped(text: str, indent: str) -> list[str]:
    """The lines of a text, each within the terminal's width, the first without the indent."""
    import shutil  # late: few commands have long texts
    import textwrap

    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    lines = [
        part
        for line in text.splitlines() or [""]
        for part in textwrap.wrap(
            line,
            max(40, columns - len(indent)),
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=False,
        )
        or [""]
    ]
    return [lines[0], *(indent + line for line in lines[1:])]
