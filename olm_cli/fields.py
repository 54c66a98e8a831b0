"""Typed access to the fields of a batch's request; absent ones have the API's default."""

from collections.abc import Mapping
from typing import Any

from olm_client.usage import RequestError


def text(request: Mapping[str, Any], field: str, *, required: bool = False) -> str:
    """A string; empty if absent and not required. Raises RequestError."""
    value = request.get(field)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise _unexpected(field, "text", value)
    return value


def number(request: Mapping[str, Any], field: str) -> int:
    """An integer, 0 if absent. Raises RequestError."""
    value = request.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise _unexpected(field, "an integer", value)
    return value


def texts(request: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """A list of strings, empty if absent. Raises RequestError."""
    value = request.get(field)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _unexpected(field, "a list of texts", value)
    return tuple(value)


def objects(request: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    """A list of objects, empty if absent. Raises RequestError."""
    value = request.get(field)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _unexpected(field, "a list of objects", value)
    return value


def inner(request: Mapping[str, Any], field: str) -> Mapping[str, Any] | None:
    """An object, None if absent. Raises RequestError."""
    value = request.get(field)
    if value is not None and not isinstance(value, dict):
        raise _unexpected(field, "an object", value)
    return value


def _unexpected(field: str, expected: str, value: Any) -> RequestError:
    got = "nothing" if value is None else repr(value)
    return RequestError(f"{field}: expected {expected}, got {got}")
