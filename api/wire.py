"""Raw JSON to models and back.

Reading is tolerant where the API server may hold older or newer objects: unknown fields are
ignored, `null` counts as absent, defaults are filled in. It is strict about types and about
what a model cannot do without, and names every fault at once. Limits and rules are not checked
again: the API server did.

Readers are composed once per model; after that a field costs one dictionary look-up and one call.
Open content (a bundle's configuration, an embedded object) is referenced, not copied.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeVar, get_args, get_origin

from msgspec import Struct

from api.schema import Presence, fields_of, unwrap

M = TypeVar("M")

Reader = Callable[[Any], Any]


class InvalidObjectError(ValueError):
    """Raw JSON that is no object of the kind.

    `faults` has a line for each thing that is wrong, as `spec.source.sourceType: what`.
    """

    def __init__(self, subject: str, faults: tuple[str, ...]) -> None:
        super().__init__(f"{subject} cannot be read: {'; '.join(faults)}")
        self.subject = subject
        self.faults = faults


class _Faults(Exception):  # noqa: N818 - carries findings, never leaves this module
    """What is wrong below some field: paths relative to it, and what was found there."""

    def __init__(self, found: list[tuple[str, str]]) -> None:
        super().__init__(found)
        self.found = found


def read_object(model: type[M], raw: Any, *, api_version: str) -> M:
    """One object of an API kind; the model's class name is the kind's name.

    An object without apiVersion and kind (an item of a list) is taken for one of this kind.
    Raises InvalidObjectError.
    """
    kind = model.__name__
    subject = f'{kind} "{_name_of(raw)}"'
    if faults := _kind_faults(raw, api_version, kind):
        raise InvalidObjectError(subject, faults)
    return read(model, raw, subject=subject)


def read(model: type[M], raw: Any, *, subject: str = "") -> M:
    """One model from its JSON; `subject` names it in errors. Raises InvalidObjectError."""
    try:
        value: M = reader_of(model)(raw)
    except _Faults as faults:
        lines = sorted(f"{path}: {what}" if path else what for path, what in faults.found)
        raise InvalidObjectError(subject or model.__name__, tuple(lines)) from None
    return value


def write(model: Any) -> dict[str, Any]:
    """A model as JSON; what says no more than its default is left out unless it is required."""
    result = {}
    for field in fields_of(model.__class__):
        value = getattr(model, field.name)
        said = field.required or Presence.DEFAULTED in field.markers or value != field.default
        if said and value is not None:
            result[field.key] = plain(value)
    return result


def timestamp(moment: datetime) -> str:
    """A moment as Kubernetes writes it: RFC 3339, UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def plain(value: Any) -> Any:
    """A value of a field as JSON."""
    match value:
        case Enum():
            return value.value
        case datetime():
            return timestamp(value)
        case tuple():
            return [plain(entry) for entry in value]
        case str() | int() | Mapping():
            return value
        case _:
            return write(value)


def _name_of(raw: Any) -> str:
    metadata = raw.get("metadata") if isinstance(raw, Mapping) else None
    return str(metadata.get("name") or "") if isinstance(metadata, Mapping) else ""


def _kind_faults(raw: Any, api_version: str, kind: str) -> tuple[str, ...]:
    if not isinstance(raw, Mapping):
        return (_wrong("an object", raw),)
    return tuple(
        f'{key}: expected "{expected}", got "{raw[key]}"'
        for key, expected in (("apiVersion", api_version), ("kind", kind))
        if raw.get(key, expected) != expected
    )


def _wrong(expected: str, value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return f"expected {expected}, got {names.get(type(value), type(value).__name__)}"


def reader_of(kind: Any) -> Reader:
    """The reader of a type, made once. Raises TypeError for a type that no model may use."""
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _make_reader(kind)
    return reader


def _make_reader(kind: Any) -> Reader:
    if get_origin(kind) is tuple:
        return _list_reader(reader_of(unwrap(get_args(kind)[0])[0]))
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _model_reader(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_reader(kind)
    raise TypeError(f"no reader for {kind}")


def _model_reader(model: Any) -> Reader:
    plan = tuple(
        (field.name, field.key, field.needed, reader_of(field.kind)) for field in fields_of(model)
    )

    def read_model(raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            raise _fault(_wrong("an object", raw))
        values = {}
        found: list[tuple[str, str]] = []
        for name, key, needed, reader in plan:
            value = raw.get(key)
            if value is None:
                if needed:
                    found.append((key, "required, but missing"))
                continue
            try:
                values[name] = reader(value)
            except _Faults as faults:
                found.extend((_join(key, path), what) for path, what in faults.found)
        if found:
            raise _Faults(found)
        return model(**values)

    return read_model


def _list_reader(reader: Reader) -> Reader:
    def read_list(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list):
            raise _fault(_wrong("a list", raw))
        entries = []
        found: list[tuple[str, str]] = []
        for index, entry in enumerate(raw):
            try:
                entries.append(reader(entry))
            except _Faults as faults:
                found.extend((_join(f"[{index}]", path), what) for path, what in faults.found)
        if found:
            raise _Faults(found)
        return tuple(entries)

    return read_list


def _enum_reader(kind: type[Enum]) -> Reader:
    members = {member.value: member for member in kind}
    allowed = ", ".join(f'"{value}"' for value in members)

    def read_enum(raw: Any) -> Enum:
        member = members.get(raw) if isinstance(raw, str) else None
        if member is None:
            raise _fault(f"expected one of {allowed}, got {raw!r}")
        return member

    return read_enum


def _join(head: str, tail: str) -> str:
    return head + tail if not tail or tail.startswith("[") else f"{head}.{tail}"


def _fault(what: str) -> _Faults:
    return _Faults([("", what)])


def _read_str(raw: Any) -> str:
    if not isinstance(raw, str):
        raise _fault(_wrong("a string", raw))
    return raw


def _read_int(raw: Any) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise _fault(_wrong("a whole number", raw))
    return raw


def _read_int_or_str(raw: Any) -> int | str:
    return raw if isinstance(raw, str) else _read_int(raw)


def _read_bool(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise _fault(_wrong("a boolean", raw))
    return raw


def _read_datetime(raw: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(_read_str(raw).upper())
    except ValueError:
        raise _fault(f"expected an RFC 3339 time, got {raw!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read_object(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise _fault(_wrong("an object", raw))
    return raw


def _read_strings(raw: Any) -> Mapping[str, str]:
    entries = _read_object(raw)
    found = [
        (key, _wrong("a string", value))
        for key, value in entries.items()
        if not isinstance(value, str)
    ]
    if found:
        raise _Faults(found)
    return entries


_READERS: dict[Any, Reader] = {
    str: _read_str,
    int: _read_int,
    int | str: _read_int_or_str,
    bool: _read_bool,
    datetime: _read_datetime,
    Mapping[str, Any]: _read_object,
    Mapping[str, str]: _read_strings,
}
