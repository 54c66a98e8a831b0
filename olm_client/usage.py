"""What is wrong with a question itself. A command line reports it as a usage error."""

from olm_runtime.errors import TerminalError


class UsageError(TerminalError):
    """What was asked for contradicts itself, or lacks something."""


class InvalidValueError(UsageError):
    """A value that cannot be read; `option` is the one it was given for, if that is known."""

    def __init__(self, message: str, *, option: str = "") -> None:
        super().__init__(message)
        self.option = option


class RequestError(TerminalError):
    """A line of a batch is no request: what it has to say is missing, or of another type."""
