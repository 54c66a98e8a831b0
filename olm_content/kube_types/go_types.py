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

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from olm_content.kube_types.crd_types import CRD_TYPES, META_TYPES
from olm_content.kube_types.csv_types import CONFIG_TYPES, CSV_TYPES
from olm_content.kube_types.go_scalars import (
    PLAIN,
    Read,
    Reader,
    ShapeError,
    go_kind,
    json_kind,
    json_number_kind,
    none,
)
from olm_content.kube_types.pod_types import POD_TYPES, SCHEDULING_TYPES, VOLUME_TYPES

__all__ = ["ShapeError", "fields_of", "json_problem", "read"]

SCHEMA = "JSONSchemaProps"


def read(type_name: str, value: Any) -> Any:
    """`value` as the named type would write it again; a new value, sharing only `any` parts.

    Raises ShapeError where a type does not fit.
    """
    try:
        return _reader(type_name).read(value)
    except ShapeError as error:
        if error.json_root is not None:
            error.problem = json_problem(*error.json_root, error)
        raise


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
            raise self._earliest(value, name, error) from None
        return self._complete(result)

    def _earliest(self, value: dict[str, Any], name: str, error: ShapeError) -> ShapeError:
        """The error that is met when fields are read in the order of the struct, as Go does."""
        names = list(value)
        unread = set(names[names.index(name) + 1 :])
        for field_name, (read_item, _) in self.fields.items():
            if field_name == name:
                break
            if field_name in unread and value[field_name] is not None:
                try:
                    read_item(value[field_name])
                except ShapeError as earlier:
                    name, error = field_name, earlier
                    break
        error.path.insert(0, f".{name}")
        return error

    def zero(self) -> dict[str, Any]:
        return self._complete({})

    def _complete(self, result: dict[str, Any]) -> dict[str, Any]:
        for name, zero in self.required:
            if name not in result and (empty := zero()) not in (None, {}):
                result[name] = empty
        return result


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

    return Reader(read_list, none, drops_empty=True)


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

    return Reader(read_map, none, drops_empty=True)


def _schema_or(alternative: type, element: str) -> Reader:
    """A schema, or a list, or a boolean: what stands for neither is as good as absent."""
    strict = alternative is bool

    def read_either(value: Any) -> Any:
        if type(value) is bool and strict:
            return value
        if type(value) is dict or type(value) is alternative:
            notation = SCHEMA if type(value) is dict else element
            try:
                shown = _reader(notation).read(value)
            except ShapeError as error:
                # Whatever has alternatives is read by Go's JSON reader, and all within it.
                error.json_root = (len(error.path), notation, value)
                raise
            return shown if type(value) is dict else shown or None
        if strict:
            raise ShapeError("boolean or JSON schema expected")
        return None

    return Reader(read_either, none)


# --- the tables ------------------------------------------------------------------------------

_STRUCTS: dict[str, _Struct] = {}
_READERS: dict[str, Reader] = dict(PLAIN)


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
        return Reader(_reader(type_name[1:]).read, none)
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


def in_own_spelling(notation: str, value: Any) -> Any:
    """The value with the names of fields as types spell them: Go's JSON reader takes any case."""
    notation = notation.lstrip("!*")
    if notation.startswith("[]") and isinstance(value, list):
        return [in_own_spelling(notation[2:], item) for item in value]
    if not isinstance(value, dict):
        return value
    if notation.startswith("{}"):
        return {key: in_own_spelling(notation[2:], item) for key, item in value.items()}
    fields = fields_of(notation) if notation in _SHAPES else {}
    folded: dict[str, str] = {name.casefold(): name for name in fields}
    spelled = {folded.get(str(key).casefold(), str(key)): item for key, item in value.items()}
    spelled |= {key: item for key, item in value.items() if key in fields}
    return {name: in_own_spelling(fields.get(name, ""), item) for name, item in spelled.items()}


# --- the words of Go's JSON reader -----------------------------------------------------------

_GO_TYPES = {
    "str": "string",
    "time": "string",
    "bytes": "[]uint8",
    "int": "int64",
    "int32": "int32",
    "bool": "bool",
    "float": "float64",
    "any": "v1.JSON",
}
_TOLD_ALIKE = ("parsing time", "boolean or JSON schema")
_NAMED_TYPES = {
    "$schema": "v1.JSONSchemaURL",
    "definitions": "v1.JSONSchemaDefinitions",
    "dependencies": "v1.JSONSchemaDependencies",
    "operation": "v1.ManagedFieldsOperationType",
    "reason": "v1.FieldValueErrorReason",
    "uid": "types.UID",
}
"""Fields whose type has a name of its own."""


def json_problem(
    steps: int, notation: str, value: Any, error: ShapeError, *, within: str = ""
) -> str:
    """The problem of a value that Go's JSON reader reads, in its words.

    `value` is what was read as `notation`, so many steps of the path above the fault; `within` is
    the field that it is the value of, if that counts.
    """
    if error.problem.startswith(_TOLD_ALIKE):
        return error.problem
    struct, names = "", [within] if within else []
    for step in error.path[len(error.path) - steps :]:
        notation, name = _plain(notation), step[1:]
        if step.startswith("["):
            notation, value = notation.removeprefix("[]"), value[int(name[:-1])]
        elif notation.startswith("{}"):
            notation, value = notation[2:], value[name]
        else:
            struct, notation, value = notation, fields_of(notation)[name], value[name]
            names.append(name)
    named = _NAMED_TYPES.get(names[-1]) if steps and names else None
    wanted = named or _go_type(_plain(notation))
    kind = (json_number_kind if wanted.startswith("int") else json_kind)(value)
    field_name = f"struct field {struct}.{'.'.join(names)}" if struct else "value"
    return f"json: cannot unmarshal {kind} into Go {field_name} of type {wanted}"


def _plain(notation: str) -> str:
    """The notation of the value that is there: not absent, no alternative."""
    notation = notation.lstrip("!*")
    return SCHEMA if notation.startswith("schema|") else notation


def _go_type(notation: str) -> str:
    if notation.startswith("[]"):
        return f"[]{_go_type(notation[2:])}"
    if notation.startswith("{}"):
        return f"map[string]{_go_type(notation[2:])}"
    return _GO_TYPES.get(notation, f"v1.{notation}")
