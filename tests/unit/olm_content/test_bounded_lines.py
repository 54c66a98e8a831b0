"""Messages are bounded in bytes, whole lines remain, the rest is counted."""

import pytest

from olm_content.bounded_lines import MAX_LINE_BYTES, joined


def test_all_lines_where_they_fit() -> None:
    assert joined(["a", "b"], count=2, what="lines", limit=3) == "a\nb"


@pytest.mark.parametrize("limit", range(30, 200, 7))
def test_the_limit_holds_and_no_line_is_lost_uncounted(limit: int) -> None:
    lines = ["äöü" * 3] * 20
    text = joined(lines, count=20, what="lines", limit=limit)
    assert len(text.encode()) <= limit
    *remaining, last = text.splitlines()
    counted = 0 if last == lines[0] else int(last.split()[2])
    assert len(remaining) + (counted or 1) == 20


def test_one_long_line_does_not_hide_the_others() -> None:
    first, second = joined(["ä" * MAX_LINE_BYTES, "b"], count=2, what="lines").splitlines()
    assert len(first.encode()) <= MAX_LINE_BYTES
    assert first.endswith("…")
    assert second == "b"
