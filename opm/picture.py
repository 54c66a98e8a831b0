"""The update graph as an SVG picture: a history per channel, newest entry first. Pure.

The picture carries its own style, for light and dark pages, and no script.
"""

from collections.abc import Collection, Iterator
from html import escape

from olm_content.fbc.graph import Graph, GraphEntry, UpdateKind
from opm.lanes import Layout, Link, lay_out

ROW, LANE, MARGIN = 26, 20, 24
"""Pixels between rows, between lanes, and around everything."""
CHARACTER = 7.3
"""Pixels that a character of a label takes at most, about; text cannot be measured here."""
RADIUS = 6
TITLE, LEGEND = 40, 34

_STYLE = """
  svg { color-scheme: light dark; font: 13px system-ui, sans-serif; background: #ffffff; }
  text { fill: #1f2328; } .note { fill: #656d76; } .title { font-size: 15px; font-weight: 600; }
  .link { fill: none; stroke: #57606a; stroke-width: 2; }
  .skips { stroke: #0969da; stroke-dasharray: 6 3; }
  .skipRange { stroke: #8250df; stroke-dasharray: 2 3; }
  .entry { fill: #57606a; } .head { fill: #1a7f37; } .deprecated { fill: #e8960f; }
  .installed { stroke: #0969da; stroke-width: 4; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .note { fill: #8b949e; }
    .link { stroke: #8b949e; } .skips { stroke: #58a6ff; } .skipRange { stroke: #bc8cff; }
    .entry { fill: #8b949e; } .head { fill: #3fb950; } .deprecated { fill: #e8960f; }
    .installed { stroke: #58a6ff; }
  }
"""


def svg(graph: Graph, *, installed: str = "") -> str:
    """The picture of all channels, one below the other; `installed` names a bundle to mark."""
    layouts = [lay_out(channel) for channel in graph.channels]
    body: list[str] = []
    top, width = MARGIN + LEGEND, 4 * 110.0
    for layout in layouts:
        body += _channel(layout, graph, top, installed)
        width = max(width, _width(layout, graph, installed))
        top += TITLE + ROW * len(layout.entries)
    size = f'width="{width + 2 * MARGIN:.0f}" height="{top + MARGIN}"'
    packages = ", ".join(sorted({channel.package for channel in graph.channels}))
    box = f'viewBox="0 0 {width + 2 * MARGIN:.0f} {top + MARGIN}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img">',
        f"<title>Update graph of {escape(packages)}</title>",
        f"<style>{_STYLE}</style>",
        *_legend(),
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def marks(entry: GraphEntry, layout: Layout, installed: str) -> list[str]:
    """What is special about an entry: `head`, `installed`, `deprecated`."""
    found = {
        "head": entry.name in layout.channel.heads,
        "installed": entry.name == installed,
        "deprecated": entry.deprecated,
    }
    return [mark for mark, holds in found.items() if holds]


def steps(entry: GraphEntry) -> str:
    """What an entry updates, in words; empty if nothing."""
    parts = [f"replaces {entry.replaces}"] if entry.replaces else []
    if entry.skips:
        parts.append(f"skips {_listed(entry.skips)}")
    if entry.skip_range:
        parts.append(f"skipRange {entry.skip_range}")
    return "; ".join(parts)


def _listed(names: Collection[str], most: int = 4) -> str:
    first = ", ".join(list(names)[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def _label(entry: GraphEntry, layout: Layout, installed: str) -> tuple[str, str]:
    """An entry's name and the remark after it."""
    noted = ", ".join(marks(entry, layout, installed))
    return entry.name, "; ".join(filter(None, (noted, steps(entry))))


def _heading(layout: Layout, graph: Graph) -> str:
    channel = layout.channel
    deprecated = channel.deprecated or channel.package in graph.deprecated
    return f"{channel.package}, channel {channel.name}" + (" (deprecated)" if deprecated else "")


def _width(layout: Layout, graph: Graph, installed: str) -> float:
    labels = (" ".join(_label(entry, layout, installed)) for entry in layout.entries)
    longest = max((len(label) + 3 for label in labels), default=0)
    heading = len(_heading(layout, graph)) * CHARACTER * 1.3
    return max(heading, layout.width * LANE + longest * CHARACTER)


def _channel(layout: Layout, graph: Graph, top: float, installed: str) -> Iterator[str]:
    heading = escape(_heading(layout, graph))
    yield f'<text class="title" x="{MARGIN}" y="{top + 14}">{heading}</text>'
    first = top + TITLE
    for link in layout.links:
        yield _link(link, layout, first)
    for row, (entry, lane) in enumerate(zip(layout.entries, layout.lanes, strict=True)):
        name, note = _label(entry, layout, installed)
        classes = " ".join(["entry", *marks(entry, layout, installed)])
        x, y = _place(lane, row, first)
        tooltip = f"<title>{escape(f'{name}: {note}' if note else name)}</title>"
        yield f'<circle class="{classes}" cx="{x}" cy="{y}" r="{RADIUS}">{tooltip}</circle>'
        noted = f' <tspan class="note" dx="8">{escape(note)}</tspan>' if note else ""
        at = MARGIN + layout.width * LANE + 6
        yield f'<text x="{at}" y="{y + 4}">{escape(name)}{noted}</text>'


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


def _legend() -> Iterator[str]:
    y = MARGIN
    for number, kind in enumerate(UpdateKind):
        x = MARGIN + number * 110
        yield f'<path class="link {kind.value}" d="M{x} {y} L{x + 24} {y}"/>'
        yield f'<text class="note" x="{x + 30}" y="{y + 4}">{kind.value}</text>'
    x = MARGIN + len(UpdateKind) * 110
    yield f'<circle class="entry head" cx="{x + 6}" cy="{y}" r="{RADIUS}"/>'
    yield f'<text class="note" x="{x + 18}" y="{y + 4}">channel head</text>'
