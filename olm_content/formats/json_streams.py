"""Streams of JSON values, which Kubernetes' tools take in place of YAML."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import orjson

from olm_content.formats.yaml_errors import MAX_DEPTH, YamlError
from olm_content.formats.yaml_scalars import int64
from olm_runtime.errors import bounded

JSON_SNIFF_BYTES = 4096
"""A brace as first character within so many bytes makes a stream JSON until proven otherwise."""


def json_texts(data: bytes) -> list[str]:
    """The JSON values that a stream begins with, as they are written there; nulls left out."""
    if not _looks_like_json(data):
        return []
    texts = []
    text = data.decode(errors="replace")
    position = _skip_space(text, 0)
    while position < len(text):
        begin = position
        try:
            value, end = _STREAM_DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            break
        if value is not None:
            texts.append(text[begin:end])
        position = _skip_space(text, end)
    return texts


def json_values(data: bytes) -> list[Any] | None:
    """The JSON values that make up the whole of `data`; None if it is something else.

    Raises YamlError for nesting that is too deep.
    """
    if not _looks_like_json(data):
        return None
    try:
        values = _json_stream(data) if _MAYBE_LONG.search(data) else [orjson.loads(data)]
    except orjson.JSONDecodeError:
        values = _json_stream(data)
    if any(map(_too_deep, values)):
        raise YamlError(f"json: exceeded max depth of {MAX_DEPTH}")
    return values or None


def _json_stream(data: bytes) -> list[Any]:
    """JSON values one after the other; none if there is anything else between them."""
    values: list[Any] = []
    try:
        text = data.decode()
        position = _skip_space(text, 0)
        while position < len(text):
            value, position = _STREAM_DECODER.raw_decode(text, position)
            values.append(value)
            position = _skip_space(text, position)
    except (ValueError, RecursionError):
        return []
    return [value for value in values if value is not None]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _skip_space(text: str, position: int) -> int:
    found = _NOT_SPACE.search(text, position)
    return found.start() if found else len(text)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for parent in level for item in _children(parent)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _looks_like_json(data: bytes) -> bool:
    return data[:JSON_SNIFF_BYTES].lstrip().startswith(b"{")


_MAYBE_LONG = re.compile(rb"[0-9]{19}")
"""Digits that may be more than 64 bits hold, which Go turns into a float and orjson does not."""
_NOT_SPACE = re.compile(r"[^ \t\r\n]")


def _integer(digits: str) -> int | float:
    """Raises ValueError for what not even a float can hold, as Go does."""
    if math.isinf(float(digits)):
        raise ValueError(f"{bounded(digits, 40)} is too large a number")
    return int64(int(digits))


_STREAM_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
