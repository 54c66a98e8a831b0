"""How many cases a run generates: all of them, or `OLMV1_PROPERTY_PERCENT` of a hundred."""

import os

PERCENT = int(os.environ.get("OLMV1_PROPERTY_PERCENT", "100"))


def cases(number: int) -> int:
    """The share of so many cases that this run is asked for, at least ten."""
    return max(10, number * PERCENT // 100)
