"""Update graphs as an SVG picture: one history below the other, newest entry first. Pure.

The picture carries its own style, for light and dark pages, and no script.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType

from olm_content.fbc.graph import Graph, UpdateKind
from opm.histories import History, Row, histories
from opm.lanes import Layout, Link, lay_out

ROW, LANE, MARGIN = 26, 20, 24
"""Pixels between rows, between lanes, and around everything."""
CHARACTER = 7.3
"""Pixels that a character of a label takes at most, about; text cannot be measured here."""
RADIUS = 6
LEGEND = MappingProxyType({kind: kind.value for kind in UpdateKind})
"""What kinds of lines mean in catalogs."""
TITLE, TOP = 40, 34

_STYLE = """
  svg { color-scheme: light dark; font: 13px system-ui, sans-serif; background: #ffffff; }
  text { fill: #1f2328; } .note { fill: #656d76; } .title { font-size: 15px; font-weight: 600; }
  .link { fill: none; stroke: #57606a; stroke-width: 2; }
  .skips { stroke: #0969da; stroke-dasharray: 6 3; }
  .skipRange { stroke: #8250df; stroke-dasharray: 2 3; }
  .entry { fill: #57606a; } .head { fill: #1a7f37; } .deprecated { fill: #e8960f; }
  .installed, .running { stroke: #0969da; stroke-width: 4; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .note { fill: #8b949e; }
    .link { stroke: #8b949e; } .skips { stroke: #58a6ff; } .skipRange { stroke: #bc8cff; }
    .entry { fill: #8b949e; } .head { fill: #3fb950; } .deprecated { fill: #e8960f; }
    .installed, .running { stroke: #58a6ff; }
  }
"""


def picture(graph: Graph, *, installed: str = "") -> str:
    """The picture of all channels of a catalog; `installed` names a bundle to mark."""
    packages = ", ".join(sorted({channel.package for channel in graph.channels}))
    return svg(histories(graph, installed=installed), title=packages)


def svg(
    histories: Sequence[History], *, title: str, legend: Mapping[UpdateKind, str] = LEGEND
) -> str:
    """The picture of all histories; `legend` says what each kind of line means."""
    layouts = list(map(lay_out, histories))
    body: list[str] = []
    top, width = MARGIN + TOP, 4 * 110.0
    for layout in layouts:
        body += _drawn(layout, top)
        width = max(width, _width(layout))
        top += TITLE + ROW * len(layout.history.rows)
    size = f'width="{width + 2 * MARGIN:.0f}" height="{top + MARGIN}"'
    box = f'viewBox="0 0 {width + 2 * MARGIN:.0f} {top + MARGIN}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img">',
        f"<title>Update graph of {escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        *_legend(legend),
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _heading(history: History) -> str:
    return history.heading + (" (deprecated)" if history.deprecated else "")


def _note(row: Row) -> str:
    return "; ".join(filter(None, (", ".join(row.marks), row.note)))


def _width(layout: Layout) -> float:
    labels = (f"{row.name} {_note(row)}" for row in layout.history.rows)
    longest = max((len(label) + 3 for label in labels), default=0)
    heading = len(_heading(layout.history)) * CHARACTER * 1.3
    return max(heading, layout.width * LANE + longest * CHARACTER)


def _drawn(layout: Layout, top: float) -> Iterator[str]:
    heading = escape(_heading(layout.history))
    yield f'<text class="title" x="{MARGIN}" y="{top + 14}">{heading}</text>'
    first = top + TITLE
    for link in layout.links:
        yield _link(link, layout, first)
    for number, (row, lane) in enumerate(zip(layout.history.rows, layout.lanes, strict=True)):
        note = _note(row)
        classes = " ".join(["entry", *row.marks])
        x, y = _place(lane, number, first)
        tooltip = f"<title>{escape(f'{row.name}: {note}' if note else row.name)}</title>"
        yield f'<circle class="{classes}" cx="{x}" cy="{y}" r="{RADIUS}">{tooltip}</circle>'
        noted = f' <tspan class="note" dx="8">{escape(note)}</tspan>' if note else ""
        at = MARGIN + layout.width * LANE + 6
        yield f'<text x="{at}" y="{y + 4}">{escape(row.name)}{noted}</text>'


def _place(lane: int, row: int, first: float) -> tuple[float, float]:
    return MARGIN + RADIUS + lane * LANE, first + row * ROW


def _link(link: Link, layout: Layout, first: float) -> str:
    """A line down its lane, bent where it leaves the upper entry and meets the lower."""
    x, y = _place(layout.lanes[link.upper], link.upper, first)
    down, _ = _place(link.lane, link.upper, first)
    to_x, to_y = _place(layout.lanes[link.lower], link.lower, first)
    path = f"M{x} {y}"
    if down != x:
        path += f" C{x} {y + ROW / 2} {down} {y + ROW / 2} {down} {y + ROW}"
    if to_x != down:
        bend = to_y - ROW
        path += f" L{down} {bend} C{down} {bend + ROW / 2} {to_x} {bend + ROW / 2} {to_x} {to_y}"
    else:
        path += f" L{to_x} {to_y}"
    return f'<path class="link {link.kind.value}" d="{path}"/>'


def _legend(kinds: Mapping[UpdateKind, str]) -> Iterator[str]:
    y = MARGIN
    for number, (kind, text) in enumerate(kinds.items()):
        x = MARGIN + number * 110
        yield f'<path class="link {kind.value}" d="M{x} {y} L{x + 24} {y}"/>'
        yield f'<text class="note" x="{x + 30}" y="{y + 4}">{escape(text)}</text>'
    x = MARGIN + len(kinds) * 110
    yield f'<circle class="entry head" cx="{x + 6}" cy="{y}" r="{RADIUS}"/>'
    yield f'<text class="note" x="{x + 18}" y="{y + 4}">channel head</text>'
