"""The clocks that programs hand to code which decides by time."""

import time
from collections.abc import Callable
from datetime import UTC, datetime


def utc_now() -> datetime:
    """The time, for wiring: code that decides by time is given a clock."""
    return datetime.fromtimestamp(time.time(), UTC)


def steady_clock() -> Callable[[], float]:
    """Seconds since the epoch as they were at the start, and from then on by the monotonic clock.

    Nobody waits longer or less because somebody sets the clock.
    """
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()
