"""Where the progress of what takes long is shown."""

from collections.abc import Sequence
from typing import Protocol


class Display(Protocol):
    """Shows a few lines, again and again."""

    def show(self, lines: Sequence[str], *, seconds: float | None = None) -> None:
        """Replaces what was shown; `seconds` are those since the beginning."""
        ...

    def end(self) -> None:
        """Nothing more comes."""
        ...


class NoDisplay:
    """Nobody looks on."""

    def show(self, lines: Sequence[str], *, seconds: float | None = None) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""
