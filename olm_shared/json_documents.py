"""The tolerant reader of JSON text, for what the fast one refuses.

Several values may follow each other without a line break, and bytes that are no UTF-8 are
replaced by U+FFFD, as upstream's decoder does.
"""

import json
from typing import Any, NoReturn


class JsonTextError(Exception):
    """Text that is no sequence of JSON values, or nests too deep."""


def load_values(text: bytes) -> list[Any]:
    """All values of a text, one after the other. Raises JsonTextError."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    decoded = text.decode("utf-8", errors="replace")
    values: list[Any] = []
    position = 0
    while position < len(decoded):
        try:
            value, position = decoder.raw_decode(decoded, position)
        except (ValueError, RecursionError) as error:  # also integers too long to be read
            raise JsonTextError(str(error)) from error
        values.append(value)
        while position < len(decoded) and decoded[position] in " \t\r\n":
            position += 1
    return values


def _refuse(constant: str) -> NoReturn:
    raise json.JSONDecodeError(f"{constant} is no JSON", constant, 0)
