"""What may be wrong with graph data."""

from olm_runtime.errors import TerminalError


class GraphDataError(TerminalError):
    """Graph data that cannot be understood."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, reason="GraphDataInvalid", hint=hint)
