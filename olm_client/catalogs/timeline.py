"""An update graph as text: a history per channel, newest entry first, as `git log --graph`. Pure.

●  an entry     │  replaces     ┆  skips     ┊  skipRange
"""

from collections.abc import Iterable, Iterator

from olm_content.fbc.graph import UpdateKind
from opm.histories import History
from opm.lanes import Layout, Link, lay_out

NODE = "●"
LINES = {UpdateKind.REPLACES: "│", UpdateKind.SKIPS: "┆", UpdateKind.RANGE: "┊"}


def timeline(histories: Iterable[History]) -> Iterator[str]:
    """The lines of all histories."""
    for number, history in enumerate(histories):
        if number:
            yield ""
        yield history.heading + (" [deprecated]" if history.deprecated else "")
        yield from _lines(lay_out(history))


def _lines(layout: Layout) -> Iterator[str]:
    for number, (row, lane) in enumerate(zip(layout.history.rows, layout.lanes, strict=True)):
        picture = _join(_passing(layout, number), NODE, lane, _ending(layout, number), "╯")
        noted = "".join(f" [{mark}]" for mark in row.marks)
        version = f"{row.version}  " if row.version else ""
        about = f"  {row.note}" if row.note else ""
        yield f"{picture.ljust(2 * layout.width)} {version}{row.name}{noted}{about}"
        yield from _between(layout, number)


def _between(layout: Layout, row: int) -> Iterator[str]:
    """The line below an entry, where lanes begin or where the next entry is not what it updates."""
    leaving = [link for link in layout.links if link.upper == row]
    lane = layout.lanes[row]
    sideways = [link for link in leaving if link.lane != lane]
    straight = next((link for link in leaving if link.lane == lane), None)
    if sideways:
        start = "├" if straight else "╰"
        yield _join(_passing(layout, row), start, lane, sideways, "╮").rstrip()
    elif straight is None and row + 1 < len(layout.lanes) and layout.lanes[row + 1] == lane:
        yield _join(_passing(layout, row), " ", lane, [], "").rstrip()
    elif straight is not None and straight.kind is not UpdateKind.REPLACES:
        yield _join(_passing(layout, row), LINES[straight.kind], lane, [], "").rstrip()


def _passing(layout: Layout, row: int) -> dict[int, str]:
    """The lanes that pass an entry by."""
    return {link.lane: LINES[link.kind] for link in layout.links if link.upper < row < link.lower}


def _ending(layout: Layout, row: int) -> list[Link]:
    lane = layout.lanes[row]
    return [link for link in layout.links if link.lower == row and link.lane != lane]


def _join(passing: dict[int, str], own: str, lane: int, aside: list[Link], corner: str) -> str:
    """One line: lanes that pass, a sign in the own lane, and corners that it is joined with."""
    corners = {link.lane for link in aside}
    last = max((lane, *corners, *passing))
    furthest = max(corners, default=lane)
    cells = []
    for each in range(last + 1):
        between = lane < each < furthest
        if each == lane:
            sign = own
        elif each in corners:
            sign = corner if each == furthest else {"╯": "┴", "╮": "┬"}[corner]
        elif each in passing:
            sign = "┼" if between else passing[each]
        else:
            sign = "─" if between else " "
        cells.append(sign + ("─" if lane <= each < furthest else " "))
    return "".join(cells).rstrip()
