"""A history: newest entry first, and lanes that lead from each to what it updates.

Drawn are all `replaces`, and of `skips` and `skipRange` only what keeps an entry from standing
alone: a range over forty versions would be forty lines. What is not drawn stands in the labels.
Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from olm_content.fbc.graph import Update, UpdateKind
from opm.histories import History


@dataclass(frozen=True, slots=True)
class Link:
    """A drawn update: from the row of the newer entry down a lane to that of the older."""

    upper: int
    lower: int
    lane: int
    kind: UpdateKind


@dataclass(frozen=True, slots=True)
class Layout:
    """The lane that each row stands in, and the links between rows."""

    history: History
    lanes: tuple[int, ...]
    links: tuple[Link, ...]

    @property
    def width(self) -> int:
        """How many lanes there are."""
        return max((*self.lanes, *(link.lane for link in self.links)), default=-1) + 1


def lay_out(history: History) -> Layout:
    """Places for all rows."""
    row = {each.name: number for number, each in enumerate(history.rows)}
    below: dict[str, list[Update]] = {}
    for update in _drawn(history.updates, row):
        below.setdefault(update.newer, []).append(update)
    open_links: dict[int, tuple[int, Update]] = {}  # by lane: the upper row, and what goes on
    lanes: list[int] = []
    links: list[Link] = []
    for number, entry in enumerate(history.rows):
        ending = [lane for lane, (_, update) in open_links.items() if update.older == entry.name]
        lane = min(ending, default=_free(open_links))
        lanes.append(lane)
        for end in ending:
            upper, update = open_links.pop(end)
            links.append(Link(upper, number, end, update.kind))
        for update in below.get(entry.name, ()):
            where = lane if lane not in open_links else _free(open_links)
            open_links[where] = number, update
    return Layout(history, tuple(lanes), tuple(links))


def _free(taken: Collection[int]) -> int:
    return next(lane for lane in range(len(taken) + 1) if lane not in taken)


def _drawn(updates: Sequence[Update], row: dict[str, int]) -> Iterator[Update]:
    """The updates that are drawn: downwards, `replaces` first."""
    down = [update for update in updates if row[update.newer] < row.get(update.older, -1)]
    followed = {update.older for update in down if update.kind is UpdateKind.REPLACES}
    yield from (update for update in down if update.kind is UpdateKind.REPLACES)
    for older in sorted(row.keys() - followed, key=row.__getitem__):
        nearest = _nearest((u for u in down if u.older == older), row)
        if nearest is not None:
            yield nearest


def _nearest(candidates: Iterable[Update], row: dict[str, int]) -> Update | None:
    """The step to the lowest newer entry; a skip rather than a range."""
    ranked = sorted(candidates, key=lambda u: (u.kind is UpdateKind.RANGE, -row[u.newer]))
    return ranked[0] if ranked else None
