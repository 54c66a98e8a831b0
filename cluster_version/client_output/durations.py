"""Times of the API and durations as people read them."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def moment(text: str | None) -> datetime | None:
    """A time in RFC 3339, to the microsecond; None where there is none."""
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def rounded(duration: timedelta, unit: timedelta) -> timedelta:
    """To the nearest multiple of a unit, a half away from zero."""
    whole = (abs(duration) + unit / 2) // unit * unit
    return whole if duration >= timedelta() else -whole


def truncated(duration: timedelta, unit: timedelta) -> timedelta:
    """To the next multiple of a unit towards zero."""
    whole = abs(duration) // unit * unit
    return whole if duration >= timedelta() else -whole


def short(duration: timedelta) -> str:
    """Hours, minutes and seconds without those at the end that are zero."""
    seconds = int(abs(duration) / SECOND)
    if not seconds:
        return "now"
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    shown = f"{hours}h" if hours else ""
    if minutes or (hours and seconds):
        shown += f"{minutes}m"
    shown += f"{seconds}s" if seconds else ""
    return shown if duration >= timedelta() else f"-{shown}"
