"""JSON text as Go's encoding/json writes it, for hashes and names that must agree with Go's.

Source of the rules: the documentation of Go's encoding/json (Marshal, Encoder.SetEscapeHTML).
Maps are written in the order given: Go's structs keep their field order, Go's maps are sorted,
so a caller that stands for a Go map passes `sort_keys=True`.
"""

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

_ESCAPED = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_FLOAT = re.compile(rb"[:,\[]-?[0-9]+[.eE]")
"""Matches in strings cost time only."""


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """Compact JSON with `<`, `>`, `&`, U+2028 and U+2029 escaped; no newline at the end.

    Raises ValueError for NaN and infinities, which JSON cannot say.
    """
    text = _quickly(value, sort_keys=sort_keys)
    if text is None:
        text = json.dumps(
            _floats(value),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            sort_keys=sort_keys,
        )
    return _escaped(text)


def _quickly(value: Any, *, sort_keys: bool) -> str | None:
    """The text of a collection that holds no float, whose spelling would have to be looked at."""
    if not isinstance(value, dict | list):
        return None
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except orjson.JSONEncodeError:
        return None  # integers beyond 64 bits, lone surrogates, keys that are no text
    # Infinity and NaN are written as null.
    return None if b"null" in text or _FLOAT.search(text) else text.decode()


def _escaped(text: str) -> str:
    for raw, escaped in _ESCAPED.items():
        text = text.replace(raw, escaped)
    return text


def compact(text: str) -> str:
    """Sound JSON text as Go copies it: without blanks, dumps' characters escaped, else as it is."""
    return _escaped("".join(re.findall(_PIECE, text)))


def elements(text: str) -> list[str]:
    """The texts of the values in the text of a list, which has to be sound."""
    return list(_inner(text))


def members(text: str) -> dict[str, str]:
    """The texts of the values in the text of an object, which has to be sound, by their keys."""
    inner = list(_inner(text))
    return {json.loads(key): value for key, value in zip(inner[::2], inner[1::2], strict=True)}


def _inner(text: str) -> Iterator[str]:
    text = text.strip()
    position = _skip(text, 1)
    while position < len(text) - 1:
        begin = position
        _, position = _DECODER.raw_decode(text, begin)
        yield text[begin:position]
        position = _skip(text, position)


def _skip(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position


_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,:]*")
_PIECE = r'"(?:[^"\\]|\\.)*"|[^\s"]+'


def whole(value: float) -> int:
    """A whole float as Go writes it: zeros for the digits that the float does not know."""
    return int(Decimal(repr(value)))


def _floats(value: Any) -> Any:
    """Whole floats as integers: Go writes 1e6 as 1000000 up to 1e21, where Python adds `.0`."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return whole(value) if abs(value) < _EXPONENT_FROM else value
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return value


_EXPONENT_FROM = 1e21
