"""Draws the diagram of docs/architecture.md: how a controller works, and the layers of the code.

The layers are those of the import contracts in pyproject.toml, with the first line of each
package's docstring. The page reads the picture from docs/architecture.svg.
"""

import ast
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"

WIDTH, MARGIN, GAP = 964, 20, 10
LINE = 17
"""Pixels from one line of text to the next."""
CHARACTER = 6.6
"""Pixels that a character takes at most, about; text cannot be measured here."""
COMING_WIDTH = 130

Lines = list[tuple[str, str]]
"""Lines of text with their classes."""

STYLE = """
  svg { color-scheme: light dark; background: #ffffff; }
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; } .heading { font-weight: 600; font-size: 16px; }
  .note { fill: #656d76; }
  .box { fill: #f6f8fa; stroke: #8c959f; } .outside { fill: #ddf4ff; stroke: #0969da; }
  .coming { fill: none; stroke-dasharray: 4 3; }
  .arrow { stroke: #57606a; stroke-width: 1.5; fill: none; marker-end: url(#head); }
  .reads { stroke-dasharray: 4 3; } .head { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .note { fill: #8b949e; }
    .box { fill: #161b22; stroke: #6e7681; } .outside { fill: #0c2d6b; stroke: #58a6ff; }
    .arrow { stroke: #8b949e; } .head { fill: #8b949e; }
  }
"""
HEAD = (
    '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    '<path class="head" d="M0 0 L8 4 L0 8 z"/></marker>'
)


@dataclass(frozen=True, slots=True)
class Box:
    """A part of the loop: where it stands (column, row, columns), its text, its module."""

    column: int
    row: int
    title: str
    notes: Sequence[str]
    module: str = ""
    columns: int = 1


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line with corners, in columns and rows of the loop; the label stands at its first point."""

    points: Sequence[tuple[float, float]]
    label: str = ""
    reads: bool = False


COLUMN, ROW, BOX_HEIGHT = 188, 150, 84
RUNTIME = "olm_runtime."
BOXES = (
    Box(0, 0, "API server", ("objects of all kinds",)),
    Box(1, 0, "list and watch", ("one for each kind",), "olm_runtime.watch"),
    Box(2, 0, "store", ("the newest of each object",), "olm_runtime.watch.store"),
    Box(
        3,
        0,
        "event handlers",
        ("predicates; which keys", "an event concerns"),
        "olm_runtime.controller.handlers",
    ),
    Box(
        4,
        0,
        "work queue",
        ("a key once at a time,", "priority, back-off"),
        "olm_runtime.controller.workqueue",
    ),
    Box(0, 1, "writes", ("dry runs, server-side", "apply, status"), "olm_runtime.kube.client"),
    Box(
        2,
        1,
        "reconcile",
        (
            "deletion and finalizers, then the steps of the controller: gather, decide, act;",
            "errors become outcomes; the status is written once at the end",
        ),
        "olm_runtime.controller.reconciler",
        columns=3,
    ),
)
"""The loop, clockwise from the API server."""
_OUT, _MIDDLE = 0.915, 0.28
"""The right edge of a box in columns, and its middle in rows."""
ARROWS = (
    *(Arrow([(column + _OUT, _MIDDLE), (column + 1, _MIDDLE)]) for column in range(4)),
    Arrow([(4.2, 0.56), (4.2, 1)], "next key"),
    Arrow([(2.46, 0.56), (2.46, 1)], "reads", reads=True),
    Arrow([(4.6, 1), (4.6, 0.56)], "requeue"),
    Arrow([(2, 1 + _MIDDLE), (_OUT, 1 + _MIDDLE)]),
    Arrow([(0.46, 1), (0.46, 0.56)], "patches"),
)


def diagram_files() -> dict[Path, str]:
    """The picture, as a file by its path."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {PICTURE: picture(project["tool"]["importlinter"]["contracts"])}


def picture(contracts: Sequence[Mapping[str, Any]]) -> str:
    """The SVG text; `contracts` are those of import-linter."""
    loop = [*_loop(MARGIN + 40)]
    top = MARGIN + 40 + ROW + BOX_HEIGHT + 50
    layers, bottom = _layers(contracts, top + 22)
    size = f'viewBox="0 0 {WIDTH} {bottom + MARGIN}" width="{WIDTH}" height="{bottom + MARGIN}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        "<title>How a controller works, and the layers of the code</title>",
        f"<style>{STYLE}</style>",
        f"<defs>{HEAD}</defs>",
        _text(MARGIN, MARGIN + 14, "How a controller works (modules of olm_runtime)", "heading"),
        *loop,
        _text(MARGIN, top, "Layers: each uses only those below it", "heading"),
        *layers,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _loop(top: int) -> Iterator[str]:
    for box in BOXES:
        x, y = MARGIN + box.column * COLUMN, top + box.row * ROW
        kind = "box" if box.module else "outside"
        yield _rectangle(x, y, COLUMN * (box.columns - 1) + 172, BOX_HEIGHT, kind)
        yield _text(x + 10, y + 20, box.title, "title")
        for number, note in enumerate(box.notes):
            yield _text(x + 10, y + 37 + number * 14, note, "")
        if box.module:
            yield _text(x + 10, y + 76, box.module.removeprefix(RUNTIME), "note")
    for arrow in ARROWS:
        points = [(MARGIN + x * COLUMN, top + y * ROW) for x, y in arrow.points]
        path = " L".join(f"{x:.0f} {y:.0f}" for x, y in points)
        yield f'<path class="arrow{" reads" if arrow.reads else ""}" d="M{path}"/>'
        if arrow.label:
            (left, first), (_, last) = points[0], points[-1]
            yield _text(round(left) + 6, round((first + last) / 2) + 4, arrow.label, "note")


def _layers(contracts: Sequence[Mapping[str, Any]], top: int) -> tuple[list[str], int]:
    """The rows of packages, and where the last one ends."""
    inside = {
        each["containers"][0]: each["layers"]
        for each in contracts
        if each["type"] == "layers" and len(each.get("containers", ())) == 1
    }
    [house] = [each for each in contracts if each["type"] == "layers" and "containers" not in each]
    lines: list[str] = []
    for layer in house["layers"]:
        named = [package.strip() for package in layer.split("|")]
        packages = [package for package in named if not package.startswith("(")]
        coming = [package.strip("()") for package in named if package.startswith("(")]
        room = WIDTH - 2 * MARGIN + GAP - (COMING_WIDTH + GAP if coming else 0)
        width = room // len(packages) - GAP
        texts = [_package_lines(package, inside.get(package, ()), width) for package in packages]
        height = 16 + LINE * max(*map(len, texts), 2 * len(coming))
        for number, text in enumerate(texts):
            lines += _filled(MARGIN + number * (width + GAP), top, width, height, text)
        for number, package in enumerate(coming):
            share = (height + GAP) // len(coming)
            x, y = WIDTH - MARGIN - COMING_WIDTH, top + number * share
            text = [(package, "title"), ("to come", "note")]
            lines += _filled(x, y, COMING_WIDTH, share - GAP, text, kind="box coming")
        top += height + GAP
    return lines, top - GAP


def _filled(
    x: int, y: int, width: int, height: int, text: Lines, kind: str = "box"
) -> Iterator[str]:
    """A box and the lines in it."""
    yield _rectangle(x, y, width, height, kind)
    for row, (line, style) in enumerate(text):
        yield _text(x + 10, y + 20 + LINE * row, line, style)


def _package_lines(package: str, parts: Sequence[str], width: int) -> Lines:
    """The lines of a package with their classes: name, docstring, and its own layers."""
    columns = int((width - 20) / CHARACTER)
    lines = [(package, "title")]
    lines += [(line, "") for line in textwrap.wrap(_summary(package), columns)]
    chain = " › ".join(part.replace(" | ", ", ") for part in parts)  # noqa: RUF001
    return lines + [(line, "note") for line in textwrap.wrap(chain, columns)]


def _summary(package: str) -> str:
    """The first line of a package's docstring."""
    module = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(module) or "").partition("\n")[0].replace("`", "")


def _rectangle(x: int, y: int, width: int, height: int, kind: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'


def _text(x: int, y: int, text: str, kind: str) -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text{marked} x="{x}" y="{y}">{escape(text, quote=False)}</text>'
