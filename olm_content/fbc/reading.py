"""Reading JSON objects as upstream's decoder does: by type, and by key whatever its case.

The lenient reading of the model: what has the wrong type is noted, or passed over, and reads
empty. The strict one, in which a wrong type is an error and unknown fields vanish, is `shapes`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_KINDS = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}


def mismatch(place: str, expected: str, value: Any) -> str:
    """The fault of a value of the wrong type."""
    got = _KINDS.get(type(value), "an object")
    return f"{place}: expected {expected}, got {got}"


class Reader:
    """Typed access to one object; what has the wrong type is noted in `faults` and reads empty.

    `place` stands before the key in a fault, with its separator.
    """

    __slots__ = ("_faults", "_place", "_source")

    def __init__(
        self, source: Mapping[str, Any], faults: list[str] | None = None, place: str = ""
    ) -> None:
        self._source = source
        self._faults = faults if faults is not None else []
        self._place = place

    def get(self, key: str) -> Any:
        """The value of any type; None if the key is absent in every spelling."""
        if key in self._source:
            return self._source[key]
        folded, length = key.casefold(), len(key)
        for other, value in self._source.items():
            if len(other) == length and other.casefold() == folded:
                return value
        return None

    def text(self, key: str) -> str:
        """The string, empty if absent."""
        return self._as_text(self.get(key), key)

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of strings, empty if absent."""
        return tuple(self._as_text(v, f"{key}[{i}]") for i, v in enumerate(self._list(key)))

    def objects(self, key: str) -> Iterator["Reader"]:
        """Readers over a list of objects, none if absent."""
        for index, value in enumerate(self._list(key)):
            yield self._reader(value, f"{key}[{index}]")

    def inner(self, key: str) -> "Reader":
        """A reader over an object, an empty one if absent."""
        return self._reader(self.get(key), key)

    def _reader(self, value: Any, key: str) -> "Reader":
        if value is not None and not isinstance(value, Mapping):
            self._note(key, "an object", value)
        inner = value if isinstance(value, Mapping) else {}
        return Reader(inner, self._faults, f"{self._place}{key}.")

    def _list(self, key: str) -> list[Any]:
        value = self.get(key)
        if value is None or isinstance(value, list):
            return value or []
        self._note(key, "a list", value)
        return []

    def _as_text(self, value: Any, key: str) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        self._note(key, "a string", value)
        return ""

    def _note(self, key: str, expected: str, value: Any) -> None:
        self._faults.append(mismatch(f"{self._place}{key}", expected, value))
