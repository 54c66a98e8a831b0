"""How words of a text are marked: by a terminal's colours (`click.style`), or not at all."""

from typing import Protocol


class Paint(Protocol):
    """Marks a text."""

    def __call__(self, text: str, *, fg: str | None = None, bold: bool | None = None) -> str:
        """The text in that colour, in bold type or not."""
        ...


def plain(text: str, *, fg: str | None = None, bold: bool | None = None) -> str:  # noqa: ARG001 - as Paint
    """The text as it is."""
    return text
