"""The errors of this product, and what each has the reconcile loop do.

OLMError
├── TransientError   try again, with back-off
├── WaitingError     comes right by itself: look again after `seconds`
└── TerminalError    only a person can help: stop until the object changes

A message names the object and the cause, a hint says what to do about it. Errors of libraries
are wrapped where they enter (cause chained, text bounded), so callers only ever catch these.
"""

import errno

MAX_CAUSE_LENGTH = 1024


class OLMError(Exception):
    """Any failure that a user may see: `message`, and a `hint` when there is something to do."""

    after = 0.0
    """Seconds for which whoever was asked wants to be left alone."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def describe(self) -> str:
        """Message and hint as users read them in a condition or on the terminal."""
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class TransientError(OLMError):
    """May be different next time: retried with back-off.

    `within` bounds the wait, in seconds, where a person is likely to mend it at any moment.
    """

    def __init__(
        self, message: str, *, hint: str = "", within: float | None = None, after: float = 0.0
    ) -> None:
        super().__init__(message, hint=hint)
        self.within = within
        self.after = after


class WaitingError(OLMError):
    """Expected to pass without help; `seconds` is when to look again."""

    def __init__(self, message: str, *, seconds: float, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.seconds = seconds


class TerminalError(OLMError):
    """Stays wrong until a person changes something; `reason` becomes the condition's reason."""

    def __init__(self, message: str, *, reason: str = "Blocked", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


def of_system(error: OSError) -> TerminalError:
    """What the operating system refused, as a person would say it."""
    problem = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = error.filename or "standard output, or the folder of temporary files,"
        return TerminalError(
            f"{where} has no room: {problem}", hint="make room, or name another folder in TMPDIR"
        )
    return TerminalError(f"{error.filename}: {problem}" if error.filename else problem)


def bounded(text: str, limit: int = MAX_CAUSE_LENGTH) -> str:
    """Foreign text cut to `limit` characters, so that no response body floods a condition."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
