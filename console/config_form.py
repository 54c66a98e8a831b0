"""A form for what a JSON schema describes, and what somebody filled into it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from olm_content.formats.kube_yaml import load_all
from olm_runtime.errors import OLMError, TerminalError

Schema = Mapping[str, Any]

PREFIX = "config."
DEEPEST = 2
"""Objects in objects get fields of their own; what is deeper is written as YAML."""


class Kind(StrEnum):
    """How a value is filled in."""

    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"
    PAIRS = "pairs"
    VARIABLES = "variables"
    YAML = "yaml"


HELP = {
    Kind.PAIRS: "A line for each, such as name=value.",
    Kind.VARIABLES: "A line for each, such as NAME=value; or a list in YAML.",
    Kind.YAML: "In YAML.",
}


@dataclass(frozen=True, slots=True)
class Input:
    """A field of the form for a value at a path; `choices` are those of CHOICE."""

    path: tuple[str, ...]
    kind: Kind
    description: str = ""
    required: bool = False
    choices: Sequence[str] = ()

    @property
    def name(self) -> str:
        """In the form."""
        return PREFIX + ".".join(self.path)

    @property
    def is_outer(self) -> bool:
        """Whether it is a value of the whole, and in no object."""
        return len(self.path) == 1

    @property
    def help(self) -> str:
        """What it is, and how it is written."""
        return " ".join(filter(None, (self.description, HELP.get(self.kind, ""))))


def inputs_of(schema: Schema, path: tuple[str, ...] = ()) -> list[Input]:
    """The fields of a form for an object."""
    return list(_inputs(schema, path))


def _inputs(schema: Schema, path: tuple[str, ...]) -> Iterator[Input]:
    required = schema.get("required") or ()
    for name, below in (schema.get("properties") or {}).items():
        here = (*path, name)
        if below.get("properties") and len(here) <= DEEPEST:
            yield from _inputs(below, here)
            continue
        kind = _kind(below)
        choices = ("true", "false") if kind is Kind.CHOICE else ()
        about = below.get("description") or schema.get("description") or ""
        yield Input(here, kind, about, name in required, choices)


def _kind(schema: Schema) -> Kind:
    inner: Schema = schema.get("additionalProperties") or schema.get("items") or {}
    match schema.get("type"):
        case "string":
            return Kind.TEXT
        case "integer" | "number":
            return Kind.NUMBER
        case "boolean":
            return Kind.CHOICE
        case "object" if inner.get("type") == "string":
            return Kind.PAIRS
        case "array" if {"name", "value"} <= (
            (schema.get("items") or {}).get("properties") or {}
        ).keys():
            return Kind.VARIABLES
        case _:
            return Kind.YAML


def read_form(inputs: Sequence[Input], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value that was filled in; what is empty is not there. Raises TerminalError."""
    found: dict[str, Any] = {}
    for each in inputs:
        text = str(given.get(each.name, "")).strip()
        if not text:
            continue
        *outer, last = each.path
        place = found
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = _value(each, text)
    return found


def _value(each: Input, text: str) -> Any:
    match each.kind:
        case Kind.PAIRS:
            return dict(_pairs(each, text))
        case Kind.VARIABLES if not text.startswith(("-", "[")):
            return [{"name": name, "value": value} for name, value in _pairs(each, text)]
        case Kind.TEXT:
            return text
        case _:
            return _yaml(each, text)


def _pairs(each: Input, text: str) -> Iterator[tuple[str, str]]:
    for line in filter(str.strip, text.splitlines()):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            where = ".".join(each.path)
            raise TerminalError(f"{where}: {line!r} is no name=value", hint="a line for each")
        yield name.strip(), value.strip()


def _yaml(each: Input, text: str) -> Any:
    try:
        return next(load_all(text.encode()), None)
    except OLMError as error:
        raise TerminalError(f"{'.'.join(each.path)}: {error.message}", hint=error.hint) from error


def texts_of(inputs: Sequence[Input], value: Any) -> dict[str, str]:
    """What has to be filled in for a value, by the names of the fields."""
    return {each.name: _text(each, _at(value, each.path)) for each in inputs}


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text(each: Input, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if each.kind is Kind.PAIRS and isinstance(value, dict):
        return "\n".join(f"{name}={item}" for name, item in value.items())
    plain = [{"name", "value"}] * len(value) if isinstance(value, list) else []
    if each.kind is Kind.VARIABLES and plain == [set(item) for item in value]:
        return "\n".join(f"{item['name']}={item['value']}" for item in value)
    return yaml_text(value).strip()


def yaml_text(value: Any) -> str:
    """A value as YAML."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
