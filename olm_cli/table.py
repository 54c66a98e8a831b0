"""Columns for people."""

import sys
from collections.abc import Collection, Iterator, Sequence

import click

GAP = "  "
LEAST = 12
"""Characters that a column keeps which may be cut."""
LEAST_LAST = 24
"""The same for the last column; with less room it stands below its row."""

_ESCAPE = "\033"
"""Begins each style; few cells have one."""

Row = Sequence[str]


def table(
    titles: Row, rows: Sequence[Row], *, wide: bool = False, cut: Collection[str] = ()
) -> Iterator[str]:
    """The lines of a table, titles first; on a terminal they are as wide as that, unless `wide`.

    Only the last column is cut for that, by an ellipsis, and those whose titles are in `cut`: names
    and versions stay whole. Cells may be styled.
    """
    if wide or not sys.stdout.isatty():
        return fitted(titles, rows, None, cut)
    import shutil  # late: only where it is asked

    return fitted(titles, rows, shutil.get_terminal_size().columns, cut)


def fitted(
    titles: Row, rows: Sequence[Row], room: int | None, cut: Collection[str] = ()
) -> Iterator[str]:
    """The lines of a table within so many characters; None for as many as it takes."""
    every = [titles, *rows]
    widths = [max(map(_width, column)) for column in zip(*every, strict=True)]
    if room is not None:
        _shrink(widths, [title in cut for title in titles], room)
    below = room is not None and widths[-1] < _least_last(every)
    for number, row in enumerate(every):
        *cells, last = row
        before = GAP.join(
            _padded(_cut(cell, width), width) for cell, width in zip(cells, widths, strict=False)
        )
        line = before if below else f"{before}{GAP}{_cut(last, widths[-1])}"
        yield click.style(line.rstrip(), bold=True) if number == 0 else line.rstrip()
        if below and number and _width(last):
            yield f"  {_cut(last, max(1, (room or 0) - 2))}"


def _shrink(widths: list[int], cut: Sequence[bool], room: int) -> None:
    """Narrows columns that may be, until the table fits or none may be narrowed further."""
    over = sum(widths) + len(GAP) * (len(widths) - 1) - room
    last = len(widths) - 1
    order = [(last, LEAST_LAST), *((i, LEAST) for i, may in enumerate(cut) if may and i != last)]
    for column, least in (*order, (last, 0)):
        taken = min(max(0, widths[column] - least), max(0, over))
        widths[column] -= taken
        over -= taken


def _least_last(every: Sequence[Row]) -> int:
    return min(LEAST_LAST, max(_width(row[-1]) for row in every))


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _cut(cell: str, width: int) -> str:
    """A cell that is not wider; one that is cut loses its style."""
    if _width(cell) <= width:
        return cell
    return click.unstyle(cell)[: max(0, width - 1)] + "…"


def _width(cell: str) -> int:
    return len(click.unstyle(cell) if _ESCAPE in cell else cell)
