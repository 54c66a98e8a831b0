"""The tests that the page of coverage names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "classic-coverage.md"


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text()))
    files = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {
        name
        for text in files
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)", text, re.MULTILINE)
    }
    assert len(named) > 100
    assert named - defined == set()


def test_every_line_says_how_it_is_seen() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    silent = [row for row in rows if not row.strip("| ").partition(" | ")[2]]
    assert silent == []
