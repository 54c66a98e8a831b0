"""Many lines as one message that fits into a condition."""

from collections.abc import Sequence

MAX_MESSAGE_BYTES = 32 * 1024 - 1024
"""The API server refuses a condition's message from 32768 on; the rest is for what others add."""

MAX_LINE_BYTES = 2048


def joined(lines: Sequence[str], *, what: str, limit: int = MAX_MESSAGE_BYTES) -> str:
    """The lines with newlines between them; what does not fit is counted: `... and 7 more WHAT`.

    A line that is too long by itself is cut. The result has at most `limit` bytes of UTF-8.
    """
    kept = [_cut(line) for line in lines]
    if _size(kept) <= limit:
        return "\n".join(kept)
    room = limit - len(_rest(len(lines), what))
    size = 0
    for count, line in enumerate(kept):
        size += len(line.encode()) + 1
        if size > room:
            return "\n".join([*kept[:count], _rest(len(lines) - count, what)])
    raise AssertionError("unreachable: all lines together are too large")


def _rest(count: int, what: str) -> str:
    return f"... and {count} more {what}"


def _size(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines) - 1


def _cut(line: str) -> str:
    data = line.encode()
    if len(data) <= MAX_LINE_BYTES:
        return line
    return data[: MAX_LINE_BYTES - 3].decode(errors="ignore") + "…"
