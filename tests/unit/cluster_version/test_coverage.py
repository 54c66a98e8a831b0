"""The page of coverage has every item, and the tests that it names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ON_A_CLUSTER = ("integration", "node")
"""The folders of tests with a real API server."""
PAGE = (ROOT / "docs" / "reference" / "cluster-version-coverage.md").read_text()


ROWS = re.findall(r"^\| (\d+) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)


def defined(*folders: str) -> set[str]:
    """The names of the tests below some folders."""
    files = (path for each in folders for path in (ROOT / "tests" / each).rglob("test_*.py"))
    pattern = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
    return {name for file in files for name in pattern.findall(file.read_text())}


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 60
    assert named - defined(".") == set()


def test_every_item_is_seen_on_a_real_api_server() -> None:
    assert [int(number) for number, _ in ROWS] == [*range(1, 53), *range(1, 65)]
    seen = defined(*ON_A_CLUSTER)
    unseen = [row for row in ROWS if not seen & set(re.findall(r"`(test_\w+)`", row[1]))]
    assert unseen == []
