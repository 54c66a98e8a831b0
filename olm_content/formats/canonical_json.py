"""JSON as Go's encoder writes it: sorted keys, no HTML escaping, numbers as float64.

The same content must give the same bytes as upstream's catalogd, because clients cache by digest
and compare by text.
"""

import re
from decimal import Decimal
from typing import Any

import orjson

LARGEST_EXACT_INTEGER = 1 << 53
"""Beyond it float64, which upstream decodes every number into, has gaps."""

_SURROGATE = "[\ud800-\udfff]"
_LINE_SEPARATORS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


class CanonicalError(Exception):
    """A value that JSON cannot hold, or that nests too deep."""


def canonical(value: dict[str, Any]) -> bytes:
    """The canonical bytes of an object. Raises CanonicalError."""
    text = None if _has_inexact_number(value) else _encode(value)
    if text is None:
        text = _encode_slowly(value)
    if not text.isascii():
        for raw, escaped in _LINE_SEPARATORS:
            text = text.replace(raw, escaped)
    return text


def _encode(value: Any) -> bytes | None:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return None


def _has_inexact_number(value: Any) -> bool:
    """Whether any number may be written differently: a walk is quicker than a look at the text."""
    pending = [value]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is dict:
            pending += [child for child in item.values() if type(child) is not str]
        elif kind is list:
            pending += [child for child in item if type(child) is not str]
        elif kind is float or (kind is int and abs(item) > LARGEST_EXACT_INTEGER):
            return True
    return False


def _encode_slowly(value: Any) -> bytes:
    try:
        text = _encode(_as_upstream(value))
    except RecursionError:
        text = None
    if text is None:
        raise CanonicalError("the document nests too deep or holds what JSON cannot")
    return text


def _as_upstream(value: Any) -> Any:
    """Numbers as float64; what UTF-8 cannot express (lone surrogates) replaced."""
    match value:
        case dict():
            return {_as_upstream(str(key)): _as_upstream(child) for key, child in value.items()}
        case list():
            return [_as_upstream(child) for child in value]
        case bool():
            return value
        case int() if abs(value) > LARGEST_EXACT_INTEGER:
            return orjson.Fragment(go_number(_to_float(value)))
        case float():
            return orjson.Fragment(go_number(value))
        case str():
            return re.sub(_SURROGATE, "\ufffd", value)
        case _:
            return value


def _to_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise CanonicalError(f"number {str(value)[:20]}… is out of range") from error


def go_number(value: float) -> str:
    """A float64 as Go's encoding/json writes it: shortest digits, exponents from 1e21 and 1e-7.

    Raises CanonicalError for infinities and NaN.
    """
    if value - value != 0:
        raise CanonicalError("infinity and NaN are no JSON numbers")
    digits = Decimal(repr(value))
    size = abs(value)
    if value == 0 or 1e-6 <= size < 1e21:
        text = format(digits, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = format(digits.normalize(), "e").partition("e")
    sign, power = exponent[0], exponent[1:].lstrip("0")
    return f"{mantissa}e{sign}{power.rjust(2, '0') if sign == '+' else power}"
