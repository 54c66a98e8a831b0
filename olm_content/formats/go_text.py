"""Values in messages written as Go writes them, for texts that must agree with upstream's."""

from collections.abc import Iterable

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def quote(text: str) -> str:
    """The text as `%q` writes it: in double quotes, what cannot be printed as an escape."""
    return '"' + "".join(map(_escaped, text)) + '"'


def quote_single(text: str) -> str:
    """The text in single quotes, as JSON schema libraries show values."""
    inside = quote(text)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inside}'"


def listed(words: Iterable[str]) -> str:
    """The words as `%v` writes a slice: `[a b]`."""
    return "[" + " ".join(words) + "]"


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
