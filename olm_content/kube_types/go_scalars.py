"""Reads single values as Go's types do: texts, numbers, times, versions, quantities.

The part of `go_types` that knows no other types. Errors are in the words of the reader that
upstream uses for the type: the unstructured converter's, or those of Go's JSON reader.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from olm_content.formats import go_json
from olm_content.formats.go_text import quote
from olm_content.kube_types import quantity
from olm_content.versions import Version, VersionError, parse_version

Read = Callable[[Any], Any]


class Reader(NamedTuple):
    """How a type is read, and what it is when absent (None: nothing to write)."""

    read: Read
    zero: Callable[[], Any]
    drops_empty: bool = False


class ShapeError(Exception):
    """A value of the wrong type: `problem` in the words of Go's reader, `path` is where.

    `json_root` is set within what Go's JSON reader reads: how many steps of the path that is, its
    notation, and its value.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path: list[str] = []
        self.json_root: tuple[int, str, Any] | None = None

    def __str__(self) -> str:
        where = "".join(self.path).removeprefix(".")
        return f"{where}: {self.problem}" if where else self.problem


_GO_KINDS = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "slice",
    dict: "map",
}


def go_kind(value: Any) -> str:
    """How Go names the kind of a JSON value."""
    return _GO_KINDS.get(type(value), "invalid")


_CONVERTIBLE = {(int, "string"), (float, "int64"), (float, "int32")}
"""Types between which Go has a conversion, which is then refused as it would change the value."""


def json_kind(value: Any) -> str:
    """How Go's JSON reader names a value in its errors."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _mismatch(value: Any, expected: str) -> ShapeError:
    if (type(value), expected) in _CONVERTIBLE:
        return ShapeError(f"cannot convert {go_kind(value)} to {expected}")
    return ShapeError(f"unrecognized type: {expected}")


def _read_str(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _mismatch(value, "string")


def json_number_kind(value: Any) -> str:
    """How Go's JSON reader names a value in place of an integer: numbers with their digits."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"number {go_json.dumps(value)}" if number else json_kind(value)


def _read_int(value: Any) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return _int64(value)
    raise _mismatch(value, "int64")


def _int64(value: float) -> int:
    """A whole number as 64 bits hold it: the least of them stands for what they do not."""
    return int(value) if -(2**63) <= value < 2**63 else -(2**63)


def _read_int32(value: Any) -> Any:
    """Digits beyond 32 bits are lost, as in Go's conversion."""
    if isinstance(value, str | bool) or not isinstance(value, int | float):
        raise _mismatch(value, "int32")
    if isinstance(value, float) and not value.is_integer():
        raise _mismatch(value, "int32")
    return (_int64(value) + 2**31) % 2**32 - 2**31


def _read_bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise _mismatch(value, "bool")


def _read_float(value: Any) -> Any:
    if type(value) is float or (type(value) is int and abs(value) <= _EXACT_IN_FLOAT):
        return value
    if type(value) is int:
        return go_json.whole(float(value))
    raise _mismatch(value, "float64")


_EXACT_IN_FLOAT = 2**53
"""Integers beyond lose digits in a 64-bit float, and Go writes zeros for them."""


def _read_any(value: Any) -> Any:
    return value


def _read_intstr(value: Any) -> Any:
    if type(value) in (int, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    kind = json_number_kind(value)
    raise ShapeError(f"json: cannot unmarshal {kind} into Go value of type int32")


def _read_quantity(value: Any) -> Any:
    try:
        text = value.strip() if isinstance(value, str) else go_json.dumps(value)
        return quantity.canonical(text)
    except ValueError as error:
        raise ShapeError(str(error)) from None


_TIME = (
    ("2006", r"[0-9]{4}"),
    ("-", "-"),
    ("01", r"[0-9]{2}"),
    ("-", "-"),
    ("02", r"[0-9]{2}"),
    ("T", "T"),
    ("15", r"[0-9]{2}"),
    (":", ":"),
    ("04", r"[0-9]{2}"),
    (":", ":"),
    ("05", r"[0-9]{2}(?:[.,][0-9]+)?"),
    ("Z07:00", r"Z|[-+][0-9]{2}:[0-9]{2}"),
)
"""The parts of a time, as Go's layouts name them."""
_SECONDS_END = len("2006-01-02T15:04:05")


def _read_time(value: Any) -> Any:
    if type(value) is not str:
        raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    rest = value
    for part, pattern in _TIME:
        found = re.match(pattern, rest)
        if found is None:
            layout = "".join(name for name, _ in _TIME)
            raise ShapeError(
                f"parsing time {quote(value)} as {quote(layout)}: cannot parse {quote(rest)} as "
                f"{quote(part)}"
            )
        rest = rest[found.end() :]
    if rest:
        raise ShapeError(f"parsing time {quote(value)}: extra text: {quote(rest)}")
    try:
        datetime.fromisoformat(value[:_SECONDS_END])
    except ValueError as error:  # its first word is what is wrong: "month must be in 1..12"
        problem = str(error).split()[0]
        raise ShapeError(f"parsing time {quote(value)}: {problem} out of range") from error
    return value


def _read_semver(value: Any) -> Any:
    """A version, read tolerantly: short ones, leading zeros, a `v` in front."""
    if type(value) is not str:
        raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    tolerant_version(value)
    return value


def tolerant_version(text: str) -> Version:
    """The version that a text means, as blang semver reads it tolerantly. Raises ShapeError."""
    parts = [_without_zeros(part) for part in text.strip().removeprefix("v").split(".", 2)]
    if len(parts) < _VERSION_PARTS and set(parts[-1]) & {"+", "-"}:
        raise ShapeError("Short version cannot contain PreRelease/Build meta data")
    try:
        return parse_version(".".join([*parts, "0", "0"][:_VERSION_PARTS]))
    except VersionError as error:
        raise ShapeError(error.message) from error


def _read_release(value: Any) -> Any:
    """A release, which is what may stand behind the dash of a version."""
    if type(value) is not str:
        raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    found = next((part for part in value.split(".") if "+" in part), None)
    if found is not None:
        raise ShapeError(f"Invalid character(s) found in prerelease {quote(found)}")
    try:
        parse_version(f"0.0.0-{value}")
    except VersionError as error:
        raise ShapeError(error.message) from error
    return value


_VERSION_PARTS = 3


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    shorter = part.lstrip("0")
    return shorter if shorter[:1].isascii() and shorter[:1].isdigit() else f"0{shorter}"


def none() -> None:
    """What stands for a value that is absent and not written."""


PLAIN: dict[str, Reader] = {
    "str": Reader(_read_str, str, drops_empty=True),
    "int": Reader(_read_int, int, drops_empty=True),
    "int32": Reader(_read_int32, int, drops_empty=True),
    "bool": Reader(_read_bool, bool, drops_empty=True),
    "float": Reader(_read_float, int, drops_empty=True),
    "any": Reader(_read_any, none),
    "bytes": Reader(_read_str, none, drops_empty=True),
    "time": Reader(_read_time, none),
    "quantity": Reader(_read_quantity, lambda: "0"),
    "intstr": Reader(_read_intstr, int),
    "semver": Reader(_read_semver, none),
    "release": Reader(_read_release, none),
}
