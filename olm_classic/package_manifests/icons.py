"""Icons of packages, as they are served."""

import base64
import binascii
import re
from dataclasses import dataclass

_IMAGE = re.compile(r"image/[a-z0-9.+-]{1,60}")
_DEFAULT = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64">'
    b'<g fill="none" stroke="#6a6e73" stroke-width="3" stroke-linejoin="round">'
    b'<path d="M32 6 56 19v26L32 58 8 45V19z"/><path d="m8 19 24 13 24-13M32 32v26"/></g></svg>'
)
DEFAULT_TYPE = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Icon:
    """An image; `etag` is quoted."""

    media_type: str
    data: bytes
    etag: str


def icon_of(media_type: str, base64data: str, name: str) -> Icon:
    """An icon, or the one for packages without: also of one that is no image. `name` names it."""
    try:
        data = base64.b64decode("".join(base64data.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b""
    kind = media_type.strip().lower()
    etag = '"{}"'.format(re.sub(r"[^!#-~]", "", name))
    if not data or not _IMAGE.fullmatch(kind):
        return Icon(DEFAULT_TYPE, _DEFAULT, etag)
    return Icon(kind, data, etag)


def is_known(icon: Icon, if_none_match: str, resource_version: str) -> bool:
    """Whether who asks has the icon: as upstream, only with a `resourceVersion` in the query."""
    if not resource_version:
        return False
    given = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return icon.etag in given or "*" in given
