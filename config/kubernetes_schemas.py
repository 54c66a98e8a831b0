"""Schemas of the structs of Kubernetes that classic objects embed, made of the generated types.

They are those of Go's decoder: types and presence. Kubernetes itself checks the rest and fills in
its defaults when such a struct is applied, so that what a bundle says is stored as it is.
"""

from functools import cache
from typing import Any

from config.kubernetes_types import OMITTED, WRITTEN
from olm_content.kube_types.tables import STRUCTS, fields_of

Schema = dict[str, Any]

_ANY = {"x-kubernetes-preserve-unknown-fields": True}
_INT_OR_STRING = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
QUANTITY = _INT_OR_STRING | {
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]"
    r"|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
}
_SCALARS: dict[str, Schema] = {
    "str": {"type": "string"},
    "semver": {"type": "string"},
    "release": {"type": "string"},
    "int": {"type": "integer", "format": "int64"},
    "int32": {"type": "integer", "format": "int32"},
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "bytes": {"type": "string", "format": "byte"},
    "time": {"type": "string", "format": "date-time"},
    "intstr": _INT_OR_STRING,
    "quantity": QUANTITY,
    "any": _ANY,
    "ObjectMeta": {"type": "object", **_ANY},
}
"""Labels and annotations of templates are open, and nobody reads the rest of their metadata."""


LENIENT = frozenset({"APIResourceReference"})
"""Structs of which real bundles leave out fields; Go's decoder takes them for empty ones."""


class Structs(dict[str, Schema]):
    """The schema of each struct, by its name; made when asked for."""

    def __missing__(self, name: str) -> Schema:
        return struct_schema(name)


@cache
def struct_schema(name: str) -> Schema:
    """The schema of a struct. Raises KeyError for an unknown one."""
    if name in _SCALARS:
        return _SCALARS[name]
    if name not in STRUCTS:
        raise KeyError(name)
    fields = fields_of(name)
    required = sorted(field for field, notation in fields.items() if _needed(name, field, notation))
    return {
        "type": "object",
        "properties": {field: _schema(notation) for field, notation in fields.items()},
        **({"required": required} if required else {}),
    }


def _needed(struct: str, field: str, notation: str) -> bool:
    names = {field, f"{struct}.{field}"}
    if struct in LENIENT:
        return False
    return bool(names & OMITTED) or (notation.startswith("!") and not names & WRITTEN)


def _schema(notation: str) -> Schema:
    notation = notation.lstrip("!*")
    if notation.startswith("[]"):
        return {"type": "array", "items": _schema(notation[2:])}
    if notation.startswith("{}"):
        return {"type": "object", "additionalProperties": _schema(notation[2:])}
    return struct_schema(notation)
