"""The table of upstream's scenarios names tests that are there."""

import re
from pathlib import Path

import pytest

INTEGRATION = Path(__file__).parents[2] / "integration"
TABLE = INTEGRATION / "scenarios" / "README.md"
ROWS = [line for line in TABLE.read_text().splitlines() if line.startswith("|")]
NAMED = sorted({name for row in ROWS for name in re.findall(r"`(\S+)`", row)} - {"tests/node"})


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_is_named_is_there(name: str) -> None:
    file, _, test = name.partition("::") if ".py" in name else ("", "", name)
    text = (INTEGRATION / (file or "scenarios/test_installing.py")).read_text()
    for each in filter(None, test.split("::")):
        assert re.search(rf"\b(def|class) {each}\b", text)
