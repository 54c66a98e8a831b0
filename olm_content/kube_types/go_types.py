"""Reads plain values as Go's typed structs do, and gives back what writing them would show.

OLM reads some manifests into types (ClusterServiceVersion and all in it, definitions) and the
rest as they are. Types change what comes out: unknown fields vanish, empty optional ones too,
required ones appear, null elements become zero values, quantities take their canonical form,
and a wrong type is an error. The rules are those of k8s.io/apimachinery's unstructured
converter. `tables` has the types.
"""

from collections.abc import Callable
from typing import Any

from olm_content.kube_types.go_scalars import PLAIN, Read, Reader, ShapeError, go_kind, none
from olm_content.kube_types.json_problems import SCHEMA, json_problem
from olm_content.kube_types.tables import STRUCTS

__all__ = ["ShapeError", "read"]


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


class _Struct:
    """A struct's fields by name, and those that are written even when absent."""

    __slots__ = ("fields", "required")

    def __init__(self) -> None:
        self.fields: dict[str, tuple[Read, bool]] = {}
        self.required: list[tuple[str, Callable[[], Any]]] = []

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
    for entry in STRUCTS[name]:
        field_name, _, notation = entry.partition("=")
        always = notation.startswith("!")
        field_type = _reader(notation.lstrip("!"))
        struct.fields[field_name] = (field_type.read, field_type.drops_empty and not always)
        if always or not field_type.drops_empty:
            struct.required.append((field_name, field_type.zero))
    return reader
