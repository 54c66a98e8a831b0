"""Which texts Go's parser takes for an address: nearly all."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPED = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})*", re.DOTALL)
_USER = r"(?:(?:[A-Za-z0-9\-._:~!$&'()*+,;=@]|%[0-9A-Fa-f]{2})*@)?"
_HOST = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=<>\"\[\]]|[^\x00-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])"
_AUTHORITY = re.compile(
    rf"{_USER}(?:\[(?:{_HOST}|:)*\](?::[0-9]*)?|(?!\[)(?:{_HOST}*|(?:{_HOST}|:)*:[0-9]*))"
)


def is_address(text: str) -> bool:
    """Whether the text is an address, with or without scheme, host and path."""
    before, _, fragment = text.partition("#")
    if _CONTROL.search(before) or before.startswith(":") or not _ESCAPED.fullmatch(fragment):
        return False
    scheme = _SCHEME.match(before)
    path = before[scheme.end() if scheme else 0 :].partition("?")[0]
    if not path.startswith("/"):
        return scheme is not None or _is_relative(path)
    if path.startswith("//") and (scheme or not path.startswith("///")):
        authority, _, path = path[2:].partition("/")
        if not _AUTHORITY.fullmatch(authority):
            return False
    return _ESCAPED.fullmatch(path) is not None


def _is_relative(path: str) -> bool:
    """Whether a path without leading slash cannot be taken for a scheme."""
    return ":" not in path.partition("/")[0] and _ESCAPED.fullmatch(path) is not None
