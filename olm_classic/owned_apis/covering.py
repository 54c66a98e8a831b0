"""Whether an object says what is wanted of it; the server and others may have added to it."""

from collections.abc import Mapping
from typing import Any


def covers(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is there; lists have the same length and order."""
    match wanted:
        case Mapping():
            there = found if isinstance(found, Mapping) else {}
            return all(covers(there.get(key), value) for key, value in wanted.items())
        case list():
            if not isinstance(found, list) or len(found) != len(wanted):
                return False
            return all(map(covers, found, wanted))
        case _:
            return bool(found == wanted)
