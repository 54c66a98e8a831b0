"""Preconditions of an update that do not hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from olm_content.formats.go_text import quote


@dataclass(frozen=True, slots=True)
class Failure:
    """A precondition that does not hold; one that does not block is reported and passed over."""

    name: str
    reason: str
    message: str
    blocks: bool = True

    def __str__(self) -> str:
        return (
            f"Precondition {quote(self.name)} failed because of {quote(self.reason)}: "
            f"{self.message}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """All failures in one text, empty if there are none, and whether they block."""

    text: str = ""
    blocks: bool = False


def verdict(failures: Sequence[Failure], *, force: bool = False) -> Verdict:
    """Failures together; `force` passes over those that block."""
    if not failures:
        return Verdict()
    texts = [str(failure) for failure in failures]
    text = texts[0]
    if len(texts) > 1:
        text = "\n* ".join(["Multiple precondition checks failed:", *texts])
    blocks = any(failure.blocks for failure in failures)
    if blocks and force:
        return Verdict(f"Forced through blocking failures: {text}")
    return Verdict(text, blocks)
