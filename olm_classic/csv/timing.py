"""When a ClusterServiceVersion is looked at again though nothing happened. Pure.

It follows from the status alone, so that it holds after a restart.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from olm_classic.csv.phases import Phase, Reason

INSTALL_TIMEOUT = timedelta(minutes=5)
PODS_PERIOD = timedelta(seconds=20)
PODS_SECONDS, LATE_PODS_SECONDS = 2.0, 10.0
"""Until pods that do not run are looked at again: in the first PODS_PERIOD, and later."""
PAUSES = (0.0, 0.0, 5.0, 20.0, 80.0)
"""Seconds after so many failures since it worked last; the last counts for more."""
DEFINITE = frozenset({Reason.INSTALL_FAILED, Reason.INSTALL_CHECK_FAILED})
"""Failures of an attempt, which need a pause before the next already when they are the first."""
FREE_REPAIRS = 4
"""So many in REPAIRS_PERIOD are made at once."""
REPAIRS_PERIOD = timedelta(minutes=2)
REPAIR_PAUSE = 20.0


def pause_left(status: Mapping[str, Any], now: datetime) -> float:
    """Seconds until an installation that failed, or that others changed, is tried again."""
    if status.get("phase") == Phase.FAILED:
        step = failures(status) + (status.get("reason") in DEFINITE)
        pause = PAUSES[min(step, len(PAUSES) - 1)]
    elif _repairs(status, now) > FREE_REPAIRS:
        pause = REPAIR_PAUSE
    else:
        return 0.0
    passed = now - _time(status.get("lastTransitionTime"), now)
    return max(0.0, pause - passed.total_seconds())


def seconds_until_look(status: Mapping[str, Any], now: datetime) -> float:
    """Until pods, the end of an installation or that of certificates are looked at; 0 for never."""
    if status.get("phase") == Phase.INSTALLING:
        passed = now - _time(status.get("lastTransitionTime"), now)
        look = PODS_SECONDS if passed < PODS_PERIOD else LATE_PODS_SECONDS
        left = (INSTALL_TIMEOUT - passed).total_seconds()
        return min(look, left) if left > 0 else look
    if status.get("phase") == Phase.SUCCEEDED and status.get("certsRotateAt"):
        left = (_time(status["certsRotateAt"], now) - now).total_seconds()
        return max(PODS_SECONDS, left)
    return 0.0


def failures(status: Mapping[str, Any]) -> int:
    """Failures that the history shows since the last success."""
    count = 0
    for entry in reversed(status.get("conditions") or ()):
        if entry.get("phase") == Phase.SUCCEEDED:
            break
        count += entry.get("phase") == Phase.FAILED
    return count


def _repairs(status: Mapping[str, Any], now: datetime) -> int:
    """How often it was installed of late."""
    return sum(
        entry.get("phase") == Phase.INSTALL_READY
        and now - datetime.fromisoformat(entry["lastTransitionTime"]) < REPAIRS_PERIOD
        for entry in status.get("conditions") or ()
    )


def _time(text: str | None, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(text) if text else otherwise
