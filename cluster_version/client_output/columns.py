"""Columns of text that are as wide as their widest cell, as Go's tabwriter lays them out.

A cell ends with a tab, so that the last part of a line is in no column. A column reaches over all
neighbouring lines that have a cell in it: a line without one starts it anew.
"""

from collections.abc import Sequence

PADDING = 3


def aligned(text: str) -> str:
    """The text with blanks in place of tabs."""
    lines = [line.split("\t") for line in text.split("\n")]
    widths: list[list[int]] = [[] for _ in lines]
    _measure(lines, widths, 0, len(lines), 0)
    return "\n".join(map(_line, lines, widths))


def _measure(
    lines: Sequence[Sequence[str]], widths: list[list[int]], start: int, end: int, column: int
) -> None:
    """Adds the width of a column, and of those right of it, to the lines that have it."""
    here = start
    while here < end:
        after = here
        while after < end and len(lines[after]) > column + 1:
            after += 1
        if after > here:
            width = max(len(lines[each][column]) for each in range(here, after))
            for each in range(here, after):
                widths[each].append(width + PADDING)
            _measure(lines, widths, here, after, column + 1)
        here = max(after, here + 1)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = "".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False))
    return padded + cells[-1]
