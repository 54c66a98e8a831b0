"""Hashes in names and labels of OLM Classic.

They are a contract with clusters that upstream's OLM has managed: with one other byte every role
has another name.
"""

import hashlib
from typing import Any

from olm_content.formats import go_json
from olm_content.kube_types.typed_json import typed_json

_BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FNV_OFFSET, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


def text_hash(text: str) -> str:
    """Base-62 SHA-224 of a text: 37 or 38 letters and digits, as there is no padding."""
    number = int.from_bytes(hashlib.sha224(text.encode()).digest(), "big")
    digits = []
    while number:
        number, digit = divmod(number, len(_BASE62))
        digits.append(_BASE62[digit])
    return "".join(reversed(digits)) or "0"


def deep_hash(type_name: str, value: Any) -> str:
    """The hash of a value of a type of `kube_types`, as JSON of that type with a newline.

    Raises ShapeError where the value does not fit the type.
    """
    return json_hash(typed_json(type_name, value))


def map_hash(value: dict[str, Any]) -> str:
    """The deep hash of a map whose values are JSON in their own order of fields."""
    return json_hash({key: value[key] for key in sorted(value)})


def json_hash(value: Any) -> str:
    """The deep hash of JSON whose fields stand in the order of their types."""
    return text_hash(f"{go_json.dumps(value)}\n")


def fnv64a(text: str) -> str:
    """The 64-bit FNV-1a hash of a text in hexadecimal digits, without leading zeros."""
    number = _FNV_OFFSET
    for byte in text.encode():
        number = (number ^ byte) * _FNV_PRIME % 2**64
    return f"{number:x}"
