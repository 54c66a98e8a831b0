"""Charts with lines, as SVG for pages, or as PNG by the browser that the tests use."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT, COLUMNS = 460, 260, 2
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 44, 34
TICKS = 5
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#8250df", "#9a6700", "#57606a")
CHARACTER = 6.2
"""Pixels that a character of a legend takes, about."""
STYLE = (
    "svg{background:#fff} text{font:11px system-ui,sans-serif;fill:#1f2328} "
    ".title{font-weight:600;font-size:12px} .note{fill:#656d76} "
    ".grid{stroke:#d8dee4} .line{fill:none;stroke-width:1.6}"
)


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name and its points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over the same axes; `across` names the axis from left to right with its unit."""

    title: str
    across: str
    series: Sequence[Series]


def svg(charts: Sequence[Chart]) -> str:
    """Charts beside and below each other."""
    rows = -(-len(charts) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT
    parts = [
        f'<g transform="translate({i % COLUMNS * WIDTH} {i // COLUMNS * HEIGHT})">{_drawn(c)}</g>'
        for i, c in enumerate(charts)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def write(charts: Sequence[Chart], file: Path) -> None:
    """Into a file whose name ends in .svg or .png."""
    drawn = svg(charts)
    if file.suffix == ".svg":
        file.write_text(drawn)
        return
    from playwright.sync_api import sync_playwright  # late: only pictures of points need it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(device_scale_factor=1.5)
        page.set_content(f"<body style='margin:0'>{drawn}</body>")
        page.locator("svg").screenshot(path=file)
        browser.close()


def _drawn(chart: Chart) -> str:
    xs = [x for each in chart.series for x, _ in each.points]
    ys = [y for each in chart.series for _, y in each.points]
    right, top = _end(max(xs, default=1)), _end(max(ys, default=1))
    parts = [f'<text class="title" x="{LEFT}" y="16">{escape(chart.title)}</text>']
    parts += [_grid(i / (TICKS - 1), right, top) for i in range(TICKS)]
    middle = (LEFT + WIDTH - RIGHT) / 2
    across = escape(chart.across)
    parts.append(f'<text class="note" x="{middle}" y="{HEIGHT - 4}">{across}</text>')
    begun = float(LEFT)
    for series, colour in zip(chart.series, COLOURS, strict=False):
        points = " ".join(f"{_x(x / right):.1f},{_y(y / top):.1f}" for x, y in series.points)
        parts.append(f'<polyline class="line" stroke="{colour}" points="{points}"/>')
        parts.append(f'<rect x="{begun}" y="26" width="10" height="3" fill="{colour}"/>')
        parts.append(f'<text x="{begun + 14}" y="31">{escape(series.name)}</text>')
        begun += 26 + CHARACTER * len(series.name)
    return "".join(parts)


def _grid(share: float, right: float, top: float) -> str:
    x, y = _x(share), _y(share)
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="note" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
        f"{share * top:g}</text>"
        f'<text class="note" x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">'
        f"{share * right:g}</text>"
    )


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _end(most: float) -> float:
    """Where an axis ends: a round number not below the most there is."""
    if most <= 0:
        return 1.0
    scale = 10.0 ** len(str(int(most))) if most >= 1 else 1.0
    while scale / 10 >= most:
        scale /= 10
    return next(scale * part / 10 for part in (1, 2, 4, 6, 8, 10) if scale * part / 10 >= most)
