"""The tolerant reader of JSON text, for what the fast one refuses.

Several values may follow each other without a line break, and bytes that are no UTF-8 are
replaced by U+FFFD, as upstream's decoder does.
"""

import json
from typing import Any, NoReturn


def leading_values(text: bytes) -> tuple[list[Any], str]:
    """The values that a text begins with, one after the other, and all that follows the last."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    decoded = text.decode("utf-8", errors="replace")
    values: list[Any] = []
    position = begin = 0
    while begin < len(decoded):
        try:
            value, position = decoder.raw_decode(decoded, begin)
        except (ValueError, RecursionError):  # also integers too long to be read
            break
        values.append(value)
        begin = position
        while begin < len(decoded) and decoded[begin] in " \t\r\n":
            begin += 1
    return values, decoded[position:]


def _refuse(constant: str) -> NoReturn:
    raise json.JSONDecodeError(f"{constant} is no JSON", constant, 0)
