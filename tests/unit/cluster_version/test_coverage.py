"""The page of coverage has every item, and the tests that it names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "cluster-version-coverage.md").read_text()


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    files = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {
        name
        for text in files
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)", text, re.MULTILINE)
    }
    assert len(named) > 60
    assert named - defined == set()


def test_every_item_says_how_it_is_seen() -> None:
    rows = re.findall(r"^\| (\d+) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)
    numbers = [int(number) for number, _ in rows]
    assert numbers == [*range(1, 53), *range(1, 65)]
    silent = [seen for _, seen in rows if not re.search(r"`test_|\bopen\b|\bsee \d|\(22\)", seen)]
    assert silent == []
