"""Reads plain values as Go's typed structs do, and gives back what writing them would show.

OLM reads some manifests into types (ClusterServiceVersion and all in it, definitions) and the
rest as they are. Types change what comes out: unknown fields vanish, empty optional ones too,
required ones appear, null elements become zero values, quantities take their canonical form,
and a wrong type is an error. The rules are those of k8s.io/apimachinery's unstructured
converter.

Shapes are tables of text, one struct each: `Name: field=type ...`. A type is `str`, `int`,
`int32`, `bool`, `float`, `any` (kept as it is), `bytes`, `time`, `quantity`, `intstr`, `semver`,
`release`, a struct's name, `[]type`, `{}type` (a map), `*type` (absent and empty differ),
`schema|bool`, `schema|list` or `schema|strings`; `!` before it means written even when empty.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from olm_shared import go_json
from olm_shared.go_text import quote
from olm_shared.versions import VersionError, parse_version
from operator_controller.bundle import quantity
from operator_controller.bundle.crd_types import CRD_TYPES, META_TYPES
from operator_controller.bundle.csv_types import CONFIG_TYPES, CSV_TYPES
from operator_controller.bundle.pod_types import POD_TYPES, SCHEDULING_TYPES, VOLUME_TYPES

Read = Callable[[Any], Any]

SCHEMA = "JSONSchemaProps"


class ShapeError(Exception):
    """A value of the wrong type: `problem` in the words of Go's reader, `path` is where."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path: list[str] = []

    def __str__(self) -> str:
        where = "".join(self.path).removeprefix(".")
        return f"{where}: {self.problem}" if where else self.problem


def read(type_name: str, value: Any) -> Any:
    """`value` as the named type would write it again; a new value, sharing only `any` parts.

    Raises ShapeError where a type does not fit.
    """
    return _reader(type_name).read(value)


@dataclass(frozen=True, slots=True)
class Reader:
    """How a type is read, and what it is when absent (None: nothing to write)."""

    read: Read
    zero: Callable[[], Any]
    drops_empty: bool = False


@dataclass(slots=True)
class _Struct:
    """A struct's fields by name, and those that are written even when absent."""

    fields: dict[str, tuple[Read, bool]] = field(default_factory=dict)
    required: list[tuple[str, Callable[[], Any]]] = field(default_factory=list)

    def read(self, value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise ShapeError(f"cannot restore struct from: {go_kind(value)}")
        result: dict[str, Any] = {}
        fields = self.fields
        name = ""
        try:
            for name, item in value.items():
                known = fields.get(name)
                if known is None or item is None:
                    continue
                read_item, drops_empty = known
                shown = read_item(item)
                if shown is None or (drops_empty and not shown):
                    continue
                result[name] = shown
        except ShapeError as error:
            error.path.insert(0, f".{name}")
            raise
        return self._complete(result)

    def zero(self) -> dict[str, Any]:
        return self._complete({})

    def _complete(self, result: dict[str, Any]) -> dict[str, Any]:
        for name, zero in self.required:
            if name not in result and (empty := zero()) not in (None, {}):
                result[name] = empty
        return result


# --- plain types -----------------------------------------------------------------------------

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
            return "number" if abs(value) < 2**31 else f"number {go_json.dumps(value)}"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _mismatch(value: Any, wanted: str) -> ShapeError:
    if (type(value), wanted) in _CONVERTIBLE:
        return ShapeError(f"cannot convert {go_kind(value)} to {wanted}")
    return ShapeError(f"unrecognized type: {wanted}")


def _read_str(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _mismatch(value, "string")


def _read_int(value: Any) -> Any:
    if type(value) is int:
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise _mismatch(value, "int64")


def _read_int32(value: Any) -> Any:
    """Digits beyond 32 bits are lost, as in Go's conversion."""
    if isinstance(value, str | bool) or not isinstance(value, int | float):
        raise _mismatch(value, "int32")
    if isinstance(value, float) and not value.is_integer():
        raise _mismatch(value, "int32")
    return (int(value) + 2**31) % 2**32 - 2**31


def _read_bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise _mismatch(value, "bool")


def _read_float(value: Any) -> Any:
    if type(value) in (int, float):
        return value
    raise _mismatch(value, "float64")


def _read_any(value: Any) -> Any:
    return value


def _read_intstr(value: Any) -> Any:
    if type(value) in (int, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type int32")


def _read_quantity(value: Any) -> Any:
    try:
        return quantity.canonical(value.strip() if isinstance(value, str) else json.dumps(value))
    except ValueError as error:
        raise ShapeError(str(error)) from None


_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
)


def _read_time(value: Any) -> Any:
    if type(value) is not str:
        raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    shown = quote(value)
    found = _TIME.fullmatch(value)
    if found is None:
        raise ShapeError(
            f'parsing time {shown} as "2006-01-02T15:04:05Z07:00": cannot parse {shown} as "2006"'
        )
    try:
        datetime.fromisoformat(found.group(1))
    except ValueError as error:  # its first word is what is wrong: "month must be in 1..12"
        raise ShapeError(f"parsing time {shown}: {str(error).split()[0]} out of range") from error
    return value


def _read_semver(value: Any) -> Any:
    """A version, read tolerantly: short ones, leading zeros, a `v` in front."""
    if type(value) is not str:
        raise ShapeError(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    parts = [_without_zeros(part) for part in value.strip().removeprefix("v").split(".", 2)]
    if len(parts) < _VERSION_PARTS and set(parts[-1]) & {"+", "-"}:
        raise ShapeError("Short version cannot contain PreRelease/Build meta data")
    try:
        parse_version(".".join([*parts, "0", "0"][:_VERSION_PARTS]))
    except VersionError as error:
        raise ShapeError(error.message) from error
    return value


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


def _none() -> None:
    return None


_PLAIN: dict[str, Reader] = {
    "str": Reader(_read_str, str, drops_empty=True),
    "int": Reader(_read_int, int, drops_empty=True),
    "int32": Reader(_read_int32, int, drops_empty=True),
    "bool": Reader(_read_bool, bool, drops_empty=True),
    "float": Reader(_read_float, int, drops_empty=True),
    "any": Reader(_read_any, _none),
    "bytes": Reader(_read_str, _none, drops_empty=True),
    "time": Reader(_read_time, _none),
    "quantity": Reader(_read_quantity, lambda: "0"),
    "intstr": Reader(_read_intstr, int),
    "semver": Reader(_read_semver, _none),
    "release": Reader(_read_release, _none),
}


# --- types made of others --------------------------------------------------------------------


def _list_reader(element: Reader) -> Reader:
    read_element, zero = element.read, element.zero

    def read_list(value: Any) -> Any:
        if type(value) is not list:
            raise ShapeError(f"cannot restore slice from {go_kind(value)}")
        result = []
        for index, item in enumerate(value):
            try:
                result.append(zero() if item is None else read_element(item))
            except ShapeError as error:
                error.path.insert(0, f"[{index}]")
                raise
        return result

    return Reader(read_list, _none, drops_empty=True)


def _map_reader(element: Reader) -> Reader:
    read_element, zero = element.read, element.zero

    def read_map(value: Any) -> Any:
        if type(value) is not dict:
            raise ShapeError(f"cannot restore map from {go_kind(value)}")
        result = {}
        for key, item in value.items():
            try:
                result[key] = zero() if item is None else read_element(item)
            except ShapeError as error:
                error.path.insert(0, f".{key}")
                raise
        return result

    return Reader(read_map, _none, drops_empty=True)


def _schema_or(alternative: type, element: str) -> Reader:
    """A schema, or a list, or a boolean: what stands for neither is as good as absent."""
    strict = alternative is bool

    def read_either(value: Any) -> Any:
        if type(value) is dict:
            return _reader(SCHEMA).read(value)
        if type(value) is alternative:
            return value if strict else (_reader(element).read(value) or None)
        if strict:
            raise ShapeError("boolean or JSON schema expected")
        return None

    return Reader(read_either, _none)


# --- the tables ------------------------------------------------------------------------------

_STRUCTS: dict[str, _Struct] = {}
_READERS: dict[str, Reader] = dict(_PLAIN)


def _reader(type_name: str) -> Reader:
    """The reader of a type by its notation, made at first use."""
    known = _READERS.get(type_name)
    if known is None:
        known = _READERS[type_name] = _make_reader(type_name)
    return known


def _make_reader(type_name: str) -> Reader:
    match type_name:
        case "schema|bool":
            return _schema_or(bool, "bool")
        case "schema|list":
            return _schema_or(list, f"[]{SCHEMA}")
        case "schema|strings":
            return _schema_or(list, "[]str")
    if type_name.startswith("*"):
        return Reader(_reader(type_name[1:]).read, _none)
    if type_name.startswith("[]"):
        return _list_reader(_reader(type_name[2:]))
    if type_name.startswith("{}"):
        return _map_reader(_reader(type_name[2:]))
    return _struct_reader(type_name)


def _struct_reader(name: str) -> Reader:
    struct = _STRUCTS[name] = _Struct()
    # Registered before its fields are looked at: schemas contain schemas.
    reader = _READERS[name] = Reader(struct.read, struct.zero)
    for entry in _SHAPES[name]:
        field_name, _, notation = entry.partition("=")
        always = notation.startswith("!")
        field_type = _reader(notation.lstrip("!"))
        struct.fields[field_name] = (field_type.read, field_type.drops_empty and not always)
        if always or not field_type.drops_empty:
            struct.required.append((field_name, field_type.zero))
    return reader


def _shapes(*tables: str) -> dict[str, tuple[str, ...]]:
    text = re.sub(r"\n +", " ", "\n".join(tables))
    lines: Iterable[str] = filter(None, text.splitlines())
    return {name: tuple(rest.split()) for name, _, rest in (line.partition(":") for line in lines)}


_SHAPES = _shapes(
    CSV_TYPES,
    CONFIG_TYPES,
    CRD_TYPES,
    META_TYPES,
    POD_TYPES,
    SCHEDULING_TYPES,
    VOLUME_TYPES,
)


def fields_of(struct_name: str) -> dict[str, str]:
    """The notation of every field of a struct, by field name."""
    return dict(entry.split("=", 1) for entry in _SHAPES[struct_name])
