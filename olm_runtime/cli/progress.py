"""Tells on a terminal how much of a long work is done; elsewhere, and of short work, nothing."""

import time
from typing import TextIO

from olm_runtime.cli.display import LiveDisplay

FIRST_SECONDS = 0.4
"""Work that takes less is not shown."""
EVERY_SECONDS = 0.1
_UNIT = 1 << 20


class Progress:
    """One line on standard error, replaced again and again."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._display = LiveDisplay(stream)
        self._began: float | None = None
        self._next = 0.0

    def show(self, text: str) -> None:
        """Replaces the line, unless that was done a moment ago."""
        now = time.monotonic()
        if self._began is None:
            self._began, self._next = now, now + FIRST_SECONDS
        if self._display.is_live and now >= self._next:
            self._display.show([text], seconds=now - self._began)
            self._next = now + EVERY_SECONDS

    def show_bytes(self, what: str, passed: int, total: int) -> None:
        """Tells of bytes; the line goes with the last one."""
        if passed >= total:
            self.end()
        else:
            self.show(f"{what}: {passed / _UNIT:.1f} of {total / _UNIT:.1f} MiB")

    def end(self) -> None:
        """Clears the line."""
        self._display.end()
        self._began = None
