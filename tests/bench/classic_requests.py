"""What olm-operator asks of the API server while it is measured."""

import time

from e2e.harness.metrics import requests_by_method
from e2e.olm.classic import Classic


def requests(classic: Classic) -> int:
    """Of olm-operator, but for the lease."""
    return requests_by_method(classic.operator_metrics()).total()


def wait_calm(classic: Classic, *, calm: float, pause: float) -> float:
    """Seconds until the last request before `calm` seconds without one."""
    began = since = time.monotonic()
    last = requests(classic)
    while time.monotonic() - since < calm:
        time.sleep(pause)
        now = requests(classic)
        if now != last:
            last, since = now, time.monotonic()
    return since - began
