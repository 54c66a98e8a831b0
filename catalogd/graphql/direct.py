"""Reads stored objects straight into the form in which a query is answered with them. Pure.

Where all that is asked for is text, truth values and lists of such objects, called as the JSON
calls them, one reading of the bytes is all: no value of an object is made that is not answered.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

MAX_FORMS = 64
"""Of answers that are remembered."""

Leaf = type[str] | type[bool]
Form = tuple[tuple[str, bool, "Leaf | Form"], ...]
"""Of each field in order: its key, whether it is a list, and what is there."""


@lru_cache(MAX_FORMS)
def decoder_of(form: Form) -> Callable[[bytes], Any] | None:
    """What reads objects of this form; None where a key is of unusual characters.

    It raises msgspec.DecodeError, RecursionError for objects that do not fit.
    """
    try:
        return msgspec.json.Decoder(_struct(form)).decode
    except ValueError:  # the library takes no quotes, backslashes and line breaks in keys
        return None


def _struct(form: Form) -> type[msgspec.Struct]:
    fields, names = [], {}
    for number, (key, listed, content) in enumerate(form):
        item: Any = content if isinstance(content, type) else _struct(content)
        name = f"key_{number}"
        names[name] = key
        fields.append((name, list[item | None] | None if listed else item | None, None))
    return msgspec.defstruct("Stored", fields, rename=names)


def encoded(answer: Any) -> bytes:
    """An answer as JSON, with what was read here in it."""
    return msgspec.json.encode(answer)
