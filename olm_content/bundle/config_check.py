"""Checks a user's configuration against the shapes it has to have, and says what is wrong.

Shapes come from the same tables that typed manifests are read with, so what passes here can be
read. Names that a nested Kubernetes type does not know are accepted, as the API server accepts
them; at the two upper levels, which are OLM's own, they are refused. null is a value of
the wrong type everywhere.

Upstream checks with a JSON schema, and its sentences are a walk through the tree of what failed:
a fault has the sentences of its causes after its own. A part that is described elsewhere (every
Kubernetes type is) hides its cause when there is only one, so that "validation failed" is all
that is said. `lines` gives these sentences; `details` says for each fault which field it is.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from olm_content.formats.go_text import quote
from olm_content.kube_types.go_scalars import json_kind
from olm_content.kube_types.tables import fields_of

DEPLOYMENT_CONFIG = "DeploymentConfig"

FAILED = "validation failed"

_EXPECTED = {
    "str": ("string", (str,)),
    "bytes": ("string", (str,)),
    "time": ("string", (str,)),
    "int": ("integer", (int,)),
    "int32": ("integer", (int,)),
    "bool": ("boolean", (bool,)),
    "float": ("number", (int, float)),
}

_LIMITS = {"int": 2**63, "int32": 2**31}

_OPTIONAL = {
    "ProjectedVolumeSource": {"sources"},
    "TypedLocalObjectReference": {"apiGroup"},
    "TypedObjectReference": {"apiGroup"},
}
"""Fields that are always written but need not be given; all others of that kind have to be."""

_NEEDED = {"PodCertificateProjection": ("keyType", "signerName")}
"""Fields that have to be given although they are left out when empty."""

_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(\.[0-9]+)?([Zz]|[-+][0-9]{2}:[0-9]{2})"
)


class Fault(NamedTuple):
    """What failed: upstream's sentence, its causes, and sentences of ours that name the fields."""

    sentence: str
    causes: tuple["Fault", ...] = ()
    named: tuple[str, ...] = ()
    elsewhere: bool = False


def group(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults of one value as what contains it sees them: one at most."""
    found = tuple(faults)
    return found if len(found) < 2 else (Fault(FAILED, found),)


def lines(faults: Iterable[Fault]) -> Iterator[str]:
    """Upstream's sentences for faults, outer ones first."""
    for fault in faults:
        yield fault.sentence
        if not (fault.elsewhere and len(fault.causes) == 1):
            yield from lines(fault.causes)


def details(faults: Iterable[Fault]) -> Iterator[str]:
    """A sentence for each fault that is no consequence of another, naming its field."""
    for fault in faults:
        if fault.named or not fault.causes:
            yield from fault.named or (fault.sentence,)
        else:
            yield from details(fault.causes)


def wrong_type(path: str, value: Any, expected: str) -> Fault:
    """The fault of a value of another type than expected; null is as good as nothing."""
    if value is None and expected != "null":
        return missing(path)
    at = f" for field {quote(path)}" if path else ""
    kind = {"bool": "boolean"}.get(json_kind(value), json_kind(value))
    return Fault(f"invalid type{at}: got {kind}, want {expected}")


def missing(path: str) -> Fault:
    """The fault of a field that has to be there."""
    return Fault(f"required field {quote(path)} is missing")


def unknown(name: str, path: str = "") -> Fault:
    """The fault of a field nobody knows; `path` is that of its parent."""
    return Fault(f"unknown field {quote(name)}", named=(f"unknown field {quote(path + name)}",))


def deployment_config_faults(path: str, value: Any) -> tuple[Fault, ...]:
    """What is wrong with a `deploymentConfig`, fields by name."""
    if not isinstance(value, dict):
        return (wrong_type(path, value, "object"),)
    fields = fields_of(DEPLOYMENT_CONFIG)
    found = [
        fault
        for name, item in sorted(value.items())
        if name in fields
        for fault in _faults(f"{path}.{name}", item, fields[name], direct=True)
    ]
    extra = sorted(value.keys() - fields.keys())
    return group([*found, *(unknown(name, f"{path}.") for name in extra)])


def _faults(path: str, value: Any, notation: str, *, direct: bool = False) -> tuple[Fault, ...]:
    """At most one fault. `direct`: other types are referred to without a wrapper around it."""
    notation = notation.lstrip("!*")
    if notation.startswith("[]"):
        return _list_faults(path, value, notation[2:], direct=direct)
    if notation.startswith("{}"):
        return _map_faults(path, value, notation[2:])
    if notation == "quantity":
        return _referred(_quantity_faults(path, value), direct=direct)
    if notation[0].isupper():
        return _referred(_struct_faults(path, value, notation), direct=direct)
    if notation == "time":
        return _referred(_plain_faults(path, value, notation), direct=direct)
    return _plain_faults(path, value, notation) if notation in _EXPECTED else ()


def _referred(faults: tuple[Fault, ...], *, direct: bool) -> tuple[Fault, ...]:
    if not faults:
        return ()
    fault = Fault(FAILED, faults, elsewhere=True)
    return (fault,) if direct else (Fault("'allOf' failed", (fault,)),)


def _plain_faults(path: str, value: Any, notation: str) -> tuple[Fault, ...]:
    expected, types = _EXPECTED[notation]
    whole = isinstance(value, float) and value.is_integer() and int in types
    fits = isinstance(value, types) or whole
    if not fits or (isinstance(value, bool) and bool not in types):
        return (wrong_type(path, value, expected),)
    if notation in _LIMITS and not -_LIMITS[notation] <= value < _LIMITS[notation]:
        return (Fault(f"number {value:.0f} for field {quote(path)} is too large"),)
    if notation == "time" and not re.fullmatch(_TIME, value):
        return (Fault(f"invalid format for field {quote(path)}: {value!r} is not valid date-time"),)
    return ()


def _quantity_faults(path: str, value: Any) -> tuple[Fault, ...]:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return ()
    causes = tuple(wrong_type(path, value, expected) for expected in ("string", "number"))
    named = wrong_type(path, value, "string or number").sentence
    return (Fault("'oneOf' failed, none matched", causes, named=(named,)),)


def _list_faults(path: str, value: Any, notation: str, *, direct: bool) -> tuple[Fault, ...]:
    if not isinstance(value, list):
        return (wrong_type(path, value, "array"),)
    return group(
        fault
        for index, item in enumerate(value)
        for fault in _faults(f"{path}.{index}", item, notation, direct=direct)
    )


def _map_faults(path: str, value: Any, notation: str) -> tuple[Fault, ...]:
    if not isinstance(value, dict):
        return (wrong_type(path, value, "object"),)
    return group(
        fault
        for name, item in sorted(value.items())
        for fault in _faults(f"{path}.{_step(name)}", item, notation, direct=True)
    )


def _step(name: str) -> str:
    """A name as one step of a JSON pointer, which paths are made from."""
    return name.replace("~", "~0").replace("/", "~1")


def _struct_faults(path: str, value: Any, name: str) -> tuple[Fault, ...]:
    """All faults, not grouped: whoever refers to the type takes them one by one."""
    if not isinstance(value, dict):
        return (wrong_type(path, value, "object"),)
    fields = fields_of(name)
    lost = [field for field in _required(name, fields) if field not in value]
    named = tuple(missing(f"{path}.{field}").sentence for field in lost)
    found = [Fault(missing(lost[0]).sentence, named=named)] if lost else []
    for field, notation in sorted(fields.items()):
        if field in value:
            found += _faults(f"{path}.{field}", value[field], notation)
    return tuple(found)


def _required(name: str, fields: dict[str, str]) -> list[str]:
    always = {field for field, notation in fields.items() if notation.startswith("!")}
    return sorted((always - _OPTIONAL.get(name, set())) | set(_NEEDED.get(name, ())))
