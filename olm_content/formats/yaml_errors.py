"""What is refused of a stream of documents."""

from olm_runtime.errors import TerminalError

MAX_DEPTH = 250
"""Nesting beyond this is refused: no manifest comes near, and encoders recurse."""


class YamlError(TerminalError):
    """Text that is no YAML; `line` is 1-based, 0 when unknown; `document` is 1-based.

    `go_message` is what the reference says, which counts lines from the document's begin.
    """

    def __init__(
        self, message: str, *, document: int = 1, line: int = 0, go_message: str = ""
    ) -> None:
        super().__init__(message)
        self.document = document
        self.line = line
        self.go_message = go_message or message


class TooManyValuesError(YamlError):
    """A document of more values than the caller allows."""


def too_many_values(most: int) -> str:
    """How the message ends."""
    return f"holds more than {most} values"
