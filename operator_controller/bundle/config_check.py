"""Checks a user's configuration against the shapes it has to have, and says what is wrong.

The texts are those upstream's users see. Shapes come from the same tables that typed manifests
are read with, so what passes here can be read. Names that a nested Kubernetes type does not
know are let through, as the API server lets them through; at the two upper levels, which are
OLM's own, they are refused.
"""

from collections.abc import Iterator
from typing import Any

from operator_controller.bundle import go_types

DEPLOYMENT_CONFIG = "DeploymentConfig"

_WANTED = {
    "str": ("string", (str,)),
    "int": ("integer", (int,)),
    "bool": ("boolean", (bool,)),
    "float": ("number", (int, float)),
    "quantity": ("string or number", (str, int, float)),
    "intstr": ("string or integer", (str, int)),
}


def json_type(value: Any) -> str:
    """The JSON name of a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def wrong_type(path: str, value: Any, wanted: str) -> str:
    """The sentence for a value of another type than wanted."""
    return f'invalid type for field "{path}": got {json_type(value)}, want {wanted}'


def missing(path: str) -> str:
    """The sentence for a field that has to be there."""
    return f'required field "{path}" is missing'


def unknown(path: str) -> str:
    """The sentence for a field nobody knows."""
    return f'unknown field "{path}"'


def deployment_config_faults(path: str, value: Any) -> Iterator[str]:
    """Every fault of a `deploymentConfig`, outer ones first, fields by name."""
    if value is None:
        return
    yield from _struct(path, value, DEPLOYMENT_CONFIG)
    if isinstance(value, dict):
        known = go_types.fields_of(DEPLOYMENT_CONFIG)
        yield from (unknown(f"{path}.{name}") for name in sorted(set(value) - set(known)))


def _faults(path: str, value: Any, notation: str) -> Iterator[str]:
    notation = notation.lstrip("!*")
    if notation in _WANTED:
        yield from _plain(path, value, notation)
    elif notation.startswith("[]"):
        yield from _each(path, value, notation[2:])
    elif notation.startswith("{}"):
        yield from _map(path, value, notation[2:])
    elif notation[0].isupper():
        yield from _struct(path, value, notation)


def _plain(path: str, value: Any, notation: str) -> Iterator[str]:
    wanted, types = _WANTED[notation]
    whole = isinstance(value, float) and value.is_integer() and int in types
    fits = isinstance(value, types) or whole
    if not fits or (isinstance(value, bool) and bool not in types):
        yield wrong_type(path, value, wanted)


def _each(path: str, value: Any, notation: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield wrong_type(path, value, "array")
        return
    for index, item in enumerate(value):
        yield from _faults(f"{path}.{index}", item, notation)


def _map(path: str, value: Any, notation: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield wrong_type(path, value, "object")
        return
    for name, item in sorted(value.items()):
        yield from _faults(f"{path}.{name}", item, notation)


def _struct(path: str, value: Any, name: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield wrong_type(path, value, "object")
        return
    fields = go_types.fields_of(name)
    for field, notation in sorted(fields.items()):
        item = value.get(field)
        if item is not None:
            yield from _faults(f"{path}.{field}", item, notation)
        elif notation.startswith("!"):
            yield missing(f"{path}.{field}")
