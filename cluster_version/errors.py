"""What keeps a release from being applied, as conditions report it.

Source of the rules: upstream's notes, section 11.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from olm_runtime.errors import TransientError

MULTIPLE = "MultipleErrors"
"""The reason of an error that lists different ones."""


class Effect(StrEnum):
    """What an error means for an update, the weakest first."""

    REPORT = "Report"
    """It is reported, and does not hinder the round."""
    NONE = "None"
    FAIL_AFTER_INTERVAL = "FailAfterInterval"
    FAIL = "Fail"


@dataclass(frozen=True, slots=True)
class Plural:
    """The reason of several errors of a kind, and their message with `%s` for the names."""

    reason: str
    message: str


class UpdateError(TransientError):
    """An object of a release could not be applied, or is not well."""

    def __init__(
        self,
        message: str,
        *,
        reason: str,
        effect: Effect | None = None,
        names: Iterable[str] = (),
        plural: Plural | None = None,
        detail: str = "",
    ) -> None:
        """`names` are of what is not well, `plural` is for several, `detail` is for logs."""
        super().__init__(message)
        self.reason = reason
        self.effect = effect
        self.names = tuple(names)
        self.plural = plural
        self.detail = detail

    @property
    def is_multiple(self) -> bool:
        """Whether it lists different errors."""
        return self.reason == MULTIPLE

    @property
    def name(self) -> str:
        """All names in one text."""
        return ", ".join(self.names)


def aggregated(messages: Iterable[str]) -> str:
    """Messages as Kubernetes puts them together, each once."""
    listed = list(dict.fromkeys(messages))
    return listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"
