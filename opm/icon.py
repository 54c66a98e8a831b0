"""A package's icon: the kind of image follows from its content. Pure."""

import base64
import re

from olm_runtime.errors import TerminalError

_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"\x00\x00\x01\x00"), "image/vnd.microsoft.icon"),
    (re.compile(rb"II\*\x00|MM\x00\*"), "image/tiff"),
    (
        re.compile(
            rb"(?:\xef\xbb\xbf)?\s*(?:(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE\s[^>\[]*(?:\[.*?\])?\s*>)\s*)*"
            rb"<svg[\s>]",
            re.DOTALL | re.IGNORECASE,
        ),
        "image/svg+xml",
    ),
)


def media_type(content: bytes) -> str | None:
    """The kind of image that some bytes are; None for another content."""
    return next((name for pattern, name in _SIGNATURES if pattern.match(content)), None)


def icon(content: bytes) -> dict[str, str]:
    """The `icon` of an olm.package blob. Raises TerminalError for what is no image."""
    mediatype = media_type(content)
    if mediatype is None:
        raise TerminalError(
            "the icon is no image",
            hint="PNG, JPEG, GIF, WebP, BMP, ICO, TIFF and SVG are known by their content",
        )
    return {"base64data": base64.b64encode(content).decode(), "mediatype": mediatype}
