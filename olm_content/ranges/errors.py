"""What is wrong with a range, and where."""

from olm_runtime.errors import TerminalError

MAX_SHOWN = 100


class RangeError(TerminalError):
    """A range that cannot be parsed.

    `message` is the sentence of the library whose dialect it is (users find it on the web),
    `text` the range, `position` the 0-based offset of the first character that does not fit,
    and the hint shows that place with a caret.
    """

    def __init__(self, message: str, *, text: str, position: int, expected: str) -> None:
        self.text = text
        self.position = position
        self.expected = expected
        super().__init__(message, hint=f"{expected}\n{point_at(text, position)}")


def point_at(text: str, position: int) -> str:
    """Two lines: the text, or a window of it, and a caret under the position."""
    start = 0 if len(text) <= MAX_SHOWN else max(0, position - MAX_SHOWN // 2)
    shown = "".join(c if c.isprintable() else " " for c in text[start : start + MAX_SHOWN])
    return f"  {shown}\n  {' ' * (position - start)}^"
