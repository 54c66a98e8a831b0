"""Columns for people."""

import shutil
import sys
from collections.abc import Iterator, Sequence

import click


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, titles first; on a terminal none is longer than a row of it.

    Cells may be styled.
    """
    every = [titles, *rows]
    widths = [
        max(len(click.unstyle(cell)) for cell in column) for column in zip(*every, strict=True)
    ]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for number, row in enumerate(every):
        *cells, last = row
        padded = (
            cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=False)
        )
        before = "  ".join([*padded, ""])
        line = f"{before}{last[: _left(before, room)]}".rstrip()
        yield click.style(line, bold=True) if number == 0 else line


def _width(cell: str) -> int:
    return len(click.unstyle(cell))


def _left(before: str, room: int | None) -> int | None:
    """Characters that are left of a row for its last cell."""
    return None if room is None else max(0, room - _width(before))
