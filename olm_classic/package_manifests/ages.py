"""How old something is, as kubectl shows it."""

from datetime import datetime

UNKNOWN = "<unknown>"
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400
_STEPS = (
    # up to so many seconds: in these units, and in these besides
    (2 * _MINUTE, "s", 1, "", 0),
    (10 * _MINUTE, "m", _MINUTE, "s", 1),
    (3 * _HOUR, "m", _MINUTE, "", 0),
    (8 * _HOUR, "h", _HOUR, "m", _MINUTE),
    (2 * _DAY, "h", _HOUR, "", 0),
    (8 * _DAY, "d", _DAY, "h", _HOUR),
    (2 * _YEAR, "d", _DAY, "", 0),
    (8 * _YEAR, "y", _YEAR, "d", _DAY),
)


def age(since: datetime | None, now: datetime) -> str:
    """Two units at most: `93s`, `5m3s`, `2d4h`."""
    if since is None:
        return UNKNOWN
    seconds = int((now - since).total_seconds())
    if seconds < 0:
        return "0s" if seconds >= -1 else "<invalid>"
    for most, unit, size, finer, finer_size in _STEPS:
        if seconds < most:
            rest = seconds % size // finer_size if finer else 0
            return f"{seconds // size}{unit}" + (f"{rest}{finer}" if rest else "")
    return f"{seconds // _YEAR}y"
