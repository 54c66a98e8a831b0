"""Identifiers of clusters."""

import re
from uuid import UUID

from olm_content.formats.go_text import quote
from olm_runtime.errors import TerminalError

_URN, _BRACES = "urn:uuid:", "{}"
_LENGTH, _BARE = 36, 32
_DASHED = re.compile(r"[^-]{8}-[^-]{4}-[^-]{4}-[^-]{4}-[^-]{12}")
_DIGITS = re.compile(r"[0-9A-Fa-f]{32}")


def parse_cluster_id(text: str) -> UUID:
    """The identifier, in one of the four forms that it may have. Raises TerminalError."""
    digits = text
    if len(text) == _LENGTH + len(_URN):
        if not text.lower().startswith(_URN):
            raise TerminalError(f"invalid urn prefix: {quote(text[: len(_URN)])}")
        digits = text[len(_URN) :]
    elif len(text) == _LENGTH + len(_BRACES):
        digits = text[1:-1]
    elif len(text) not in (_LENGTH, _BARE):
        raise TerminalError(f"invalid UUID length: {len(text)}")
    if len(digits) == _LENGTH:
        digits = digits.replace("-", "") if _DASHED.fullmatch(digits) else ""
    if not _DIGITS.fullmatch(digits):
        raise TerminalError("invalid UUID format")
    return UUID(hex=digits)
