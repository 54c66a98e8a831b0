"""Many lines as one message that fits into a condition."""

from collections.abc import Iterable

MAX_MESSAGE_BYTES = 32 * 1024 - 1024
"""The API server refuses a condition's message from 32768 on; the rest is for what others add."""

MAX_LINE_BYTES = 2048


def joined(lines: Iterable[str], *, count: int, what: str, limit: int = MAX_MESSAGE_BYTES) -> str:
    """The lines with newlines between them; what does not fit is counted: `... and 7 more WHAT`.

    `count` is how many lines there are; they are taken one by one, and no further than they fit.
    A line that is too long by itself is cut. The result has at most `limit` bytes of UTF-8.
    """
    shown: list[str] = []
    size = 0
    for line in map(_cut, lines):
        size += len(line.encode()) + 1
        if size - 1 > limit:
            return _with_rest(shown, count, what, limit)
        shown.append(line)
    return "\n".join(shown)


def _with_rest(shown: list[str], count: int, what: str, limit: int) -> str:
    while True:
        text = "\n".join([*shown, f"... and {count - len(shown)} more {what}"])
        if len(text.encode()) <= limit or not shown:
            return text
        shown.pop()


def _cut(line: str) -> str:
    data = line.encode()
    if len(data) <= MAX_LINE_BYTES:
        return line
    return data[: MAX_LINE_BYTES - 3].decode(errors="ignore") + "…"
