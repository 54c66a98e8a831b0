"""The diagram of docs/architecture.md: its parts exist, its text fits."""

import re
from xml.etree import ElementTree as ET

from config.diagrams import BOXES, CHARACTER, ROOT, WIDTH, diagram_files

SVG = "{http://www.w3.org/2000/svg}"


def drawn() -> ET.Element:
    [text] = diagram_files().values()
    return ET.fromstring(text)


def test_the_modules_of_the_loop_exist() -> None:
    for box in BOXES:
        path = ROOT / box.module.replace(".", "/")
        assert not box.module or path.is_dir() or path.with_suffix(".py").is_file(), box.module


def test_every_package_is_in_the_layers() -> None:
    titles = {text.text for text in drawn().iter(f"{SVG}text") if text.get("class") == "title"}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {
        "config",
        "e2e",
        "tests",
    }
    assert packages <= titles


def test_text_stays_within_its_box() -> None:
    boxes = [[float(rect.get(key, 0)) for key in ("x", "y", "width", "height")]
             for rect in drawn().iter(f"{SVG}rect")]  # fmt: skip
    for text in drawn().iter(f"{SVG}text"):
        left, line = float(text.get("x", 0)), float(text.get("y", 0))
        right = left + CHARACTER * 0.93 * len(text.text or "")
        around = [(x, w) for x, y, w, h in boxes if x < left < x + w and y < line < y + h]
        limit = min((x + w for x, w in around), default=WIDTH)
        assert right <= limit, text.text


def test_colours_are_the_styles() -> None:
    [text] = diagram_files().values()
    assert not re.search(r'(fill|stroke)="', text)
