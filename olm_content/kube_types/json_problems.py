"""What Go's JSON reader says of a value that does not fit its type."""

from typing import Any

from olm_content.kube_types.go_scalars import ShapeError, json_kind, json_number_kind
from olm_content.kube_types.tables import fields_of

SCHEMA = "JSONSchemaProps"

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
_SAME_WORDS = ("parsing time", "boolean or JSON schema")
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
    if error.problem.startswith(_SAME_WORDS):
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
    expected = named or _go_type(_plain(notation))
    kind = (json_number_kind if expected.startswith("int") else json_kind)(value)
    field_name = f"struct field {struct}.{'.'.join(names)}" if struct else "value"
    return f"json: cannot unmarshal {kind} into Go {field_name} of type {expected}"


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
