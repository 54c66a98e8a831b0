"""Icons of catalogs, which anybody may have written, as images. Pure."""

import base64
import binascii
from dataclasses import dataclass

from opm.icon import media_type

MAX_ICON_BYTES = 512 << 10
_SHOWN_BY_BROWSERS = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"}
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image that a browser may be given."""

    media_type: str
    content: bytes


def picture_of(text: str) -> Picture | None:
    """The image that base64 text has, by its content whatever it is said to be; None for none."""
    try:
        content = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    found = media_type(content)
    if found not in _SHOWN_BY_BROWSERS or len(content) > MAX_ICON_BYTES:
        return None
    return Picture(found, content)
