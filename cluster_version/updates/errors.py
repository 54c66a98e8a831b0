"""Why updates could not be retrieved."""

from olm_runtime.errors import TerminalError


class RetrievalError(TerminalError):
    """`reason` and the message become those of the condition RetrievedUpdates."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message, reason=reason)
