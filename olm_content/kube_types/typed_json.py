"""Plain values as Go's encoding/json writes them from their typed structs.

`go_types.read` gives what the unstructured converter would show. encoding/json differs: fields
stand in the order of the struct, structs are written even when empty, and so is what a field
without `omitempty` holds when nothing was given: null for pointers and lists.
"""

from collections.abc import Callable
from typing import Any

from olm_content.kube_types.go_types import read
from olm_content.kube_types.tables import STRUCTS

__all__ = ["typed_json"]


def typed_json(type_name: str, value: Any) -> Any:
    """`value` as the named type is written; the order of keys is that of the text.

    Raises ShapeError where a type does not fit.
    """
    return _written(type_name, read(type_name, value))


def _written(notation: str, value: Any) -> Any:
    """A value in its type, which is without the marks of a field: `*`, `!`."""
    if value is None:
        return None
    if notation.startswith("[]"):
        return [_written(notation[2:].lstrip("*"), item) for item in value]
    if notation.startswith("{}"):
        return {key: _written(notation[2:].lstrip("*"), value[key]) for key in sorted(value)}
    if notation in STRUCTS:
        return _struct(notation, value)
    return _sorted(value)


def _struct(name: str, value: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for entry in STRUCTS[name]:
        field, _, marked = entry.partition("=")
        notation = marked.lstrip("!*")
        if field in value:
            fields[field] = _written(notation, value[field])
        elif marked.startswith("!"):
            fields[field] = _zero(marked[1:])
        elif notation == marked and marked in STRUCTS:
            fields[field] = _struct(marked, {})
    return fields


def _zero(notation: str) -> Any:
    """What is written of a field without `omitempty` that holds nothing."""
    if notation in STRUCTS:
        return _struct(notation, {})
    zero: Callable[[], Any] = _ZEROS.get(notation, _null)
    return zero()


def _null() -> None:
    """Pointers, lists and maps."""


_ZEROS: dict[str, Callable[[], Any]] = {"str": str, "int": int, "int32": int, "bool": bool}


def _sorted(value: Any) -> Any:
    """JSON of no type: its objects are Go's maps, which are sorted."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
