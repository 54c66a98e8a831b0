"""What speaks against a release image."""

from collections.abc import Sequence

from olm_runtime.errors import TerminalError


class SignatureError(TerminalError):
    """A statement that does not count, or a key that cannot be read."""


class VerificationError(TerminalError):
    """A release image that is not signed as it has to be; `causes` are what was tried, in order."""

    def __init__(self, message: str, causes: Sequence[str] = ()) -> None:
        super().__init__(message, reason="ImageVerificationFailed")
        self.causes = tuple(causes)

    @property
    def details(self) -> str:
        """The causes, each once."""
        different = list(dict.fromkeys(self.causes))
        return f"[{', '.join(different)}]" if len(different) > 1 else "".join(different)

    @property
    def unfolded(self) -> str:
        """The message, and below it the causes: what a person reads who forced the update."""
        return f"{self.message}\n{self.details}" if self.causes else self.message
