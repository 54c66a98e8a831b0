"""What scalars of YAML mean to Kubernetes' tools: Go's reader of YAML 1.1, as JSON values.

The rules are YAML 1.1's with the exceptions that go.yaml.in/yaml/v2 makes (no base-60 numbers,
timestamps stay strings, `y` and `n` are booleans), followed by the journey through JSON text
that sigs.k8s.io/yaml sends every document on.
"""

import base64
import re
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any


class ScalarError(ValueError):
    """A scalar that is not what its tag says, or that JSON cannot say."""


_NAMED: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(
        "y Y yes Yes YES true True TRUE on On ON".split(),  # noqa: SIM905 - reads better
        True,
    ),
    **dict.fromkeys("n N no No NO false False FALSE off Off OFF".split(), False),  # noqa: SIM905
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
NAMED_WORDS = tuple(name for name in _NAMED if name.isalpha())
"""Plain words that are not text: nulls and booleans."""
_MAY_BE_NAMED = frozenset("yYnNtTfFoO~.+-")
# Texts, which Python compiles as they are first used: most commands read no such scalar.
_INTEGER = r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))"
_INTEGER_BASES = (16, 2, 8, 10)
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_DOT_FLOAT = r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?"
_TIMESTAMP = (
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]| )[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_INT64_MIN, _INT64_MAX, _UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


MAX_REMEMBERED_LENGTH = 80
"""Longer scalars are seldom seen twice, and would make the memory of them large."""

MAX_INTEGER_LENGTH = 100
"""Longer digits are beyond 64 bits in any base, and slow to find that out with."""


def resolve_plain(text: str) -> Any:
    """What a plain (unquoted, untagged) scalar means: None, bool, int, float or str.

    Floats may be NaN or infinite here; whether that is an error depends on the place.
    """
    return _remembered(text) if len(text) <= MAX_REMEMBERED_LENGTH else _resolve(text)


def _resolve(text: str) -> Any:
    if not text:
        return None
    first = text[0]
    if first in _MAY_BE_NAMED and text in _NAMED:
        return _NAMED[text]
    if first in "0123456789+-":
        return _number(text.replace("_", ""), text)
    if first == "." and re.fullmatch(_DOT_FLOAT, text):
        return _finite_or(text, float(text))
    return text


_remembered = lru_cache(maxsize=256)(_resolve)


def _number(plain: str, text: str) -> Any:
    """`plain` (underscores gone) as Go's ParseInt and ParseFloat see it, or else `text`."""
    if len(plain) <= MAX_INTEGER_LENGTH and (found := re.fullmatch(_INTEGER, plain)):
        sign = -1 if found.group(1) == "-" else 1
        digits, base = next(
            (found.group(i), base) for i, base in enumerate(_INTEGER_BASES, 2) if found.group(i)
        )
        value = sign * int(digits, base)
        if _INT64_MIN <= value <= (_UINT64_MAX if not found.group(1) else _INT64_MAX):
            return value
    if re.fullmatch(_FLOAT, plain):
        return _finite_or(text, float(plain))
    return text


def _finite_or(text: str, value: float) -> float | str:
    """Digits beyond the range of a float are no number to Go, so they stay text."""
    return text if value in (float("inf"), float("-inf")) else value


def int64(value: int) -> int | float:
    """The integer, or a float where 64 bits are too few: all that Go makes of it."""
    return value if _INT64_MIN <= value <= _INT64_MAX else float(value)


def json_scalar(value: Any) -> Any:
    """A scalar after its journey through JSON text: whole numbers become integers."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ScalarError(f"json: unsupported value: {_go_float_name(value)}")
        return int(value) if value.is_integer() and abs(value) <= _INT64_MAX else value
    if isinstance(value, int) and not isinstance(value, bool):
        return int64(value)
    return value


def _go_float_name(value: float) -> str:
    return "NaN" if value != value else ("+Inf" if value > 0 else "-Inf")


def key_text(key: Any) -> str:
    """A mapping key as JSON needs it: numbers and booleans spelled out."""
    if isinstance(key, str):
        return key
    if key is True or key is False:
        return "true" if key else "false"
    if isinstance(key, int) and _INT64_MIN <= key <= _INT64_MAX:
        return str(key)
    if isinstance(key, float):
        return _float_key(key)
    shown = "nil" if key is None else str(key)
    raise ScalarError(f"unsupported map key: {shown}")


_EXPONENT_FORM_FROM = 6


def _float_key(key: float) -> str:
    """Shortest digits that give the same 32-bit float, in Go's %g form."""
    if key != key:
        return ".nan"
    try:
        single = struct.unpack("f", struct.pack("f", key))[0]
    except OverflowError:
        single = float("inf") if key > 0 else float("-inf")
    if single in (float("inf"), float("-inf")):
        return ".inf" if single > 0 else "-.inf"
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    mantissa, _, exponent = f"{float(text):.{digits - 1}e}".partition("e")
    if not -4 <= int(exponent) < _EXPONENT_FORM_FROM:
        return f"{mantissa}e{exponent}"
    fixed = f"{float(text):.{max(digits - 1 - int(exponent), 0)}f}"
    return fixed.rstrip("0").rstrip(".") if "." in fixed else fixed


_TAG = "tag:yaml.org,2002:"


def resolve_tagged(tag: str, text: str) -> Any:
    """The value of a scalar with an explicit tag. Raises ScalarError where text and tag differ."""
    name = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
    if name == "str":
        return text
    if name == "binary":
        return _binary(text)
    check = _TAG_TYPES.get(name)
    if check is None:
        return text
    value = resolve_plain(text)
    if name == "float" and type(value) is int and value <= _INT64_MAX:
        value = float(value)
    if not check(value):
        raise ScalarError(f"cannot decode !!{_tag_of(value)} `{text}` as a !!{name}")
    return value


def _binary(text: str) -> str:
    try:
        data = base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True)
    except ValueError:  # binascii.Error is one; letters beyond ASCII are another
        raise ScalarError("!!binary value contains invalid base64 data") from None
    return data.decode(errors="replace")


_TAG_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int,
    "float": lambda value: isinstance(value, float),
    "timestamp": lambda value: isinstance(value, str) and bool(re.fullmatch(_TIMESTAMP, value)),
}


def _tag_of(value: Any) -> str:
    names = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}
    return names[type(value)]
