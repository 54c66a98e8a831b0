"""Which request to the API server goes wrong, and how: a plan that a proxy asks.

Each write belongs to one case, known by a key in its path or body, so that many cases can run side
by side in one program, each with a fault of its own.
"""

import re
import threading
from dataclasses import dataclass, field
from enum import StrEnum

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
QUESTIONS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")
"""POSTs that only ask."""
EVENTS = "/apis/events.k8s.io/"
"""Best effort: losing one has no consequence."""


class Fault(StrEnum):
    """What happens at a write. Before: the API server never sees it. After: it has done it."""

    KILL_BEFORE = "kill-before"
    KILL_AFTER = "kill-after"
    CONFLICT = "409"
    THROTTLED = "429-retry-after"
    THROTTLED_BARE = "429"
    INTERNAL_ERROR = "500"
    UNAVAILABLE = "503"
    SILENT_BEFORE = "no-answer-before"
    SILENT_AFTER = "no-answer-after"
    RESET_BEFORE = "reset-before"
    RESET_AFTER = "reset-after"
    TRUNCATED = "truncated-answer"
    WATCHES_CUT = "watches-cut"
    DISK_FULL = "disk-full"
    DISK_READ_ONLY = "disk-read-only"
    CLOCK_BACK = "clock-back"
    CLOCK_FORTH = "clock-forth"


KILLS = frozenset({Fault.KILL_BEFORE, Fault.KILL_AFTER})
MACHINE = frozenset({Fault.DISK_FULL, Fault.DISK_READ_ONLY, Fault.CLOCK_BACK, Fault.CLOCK_FORTH})
"""Faults of the machine that the program runs on; they begin before the write, and last."""
REPEATED = {Fault.THROTTLED_BARE: 6, Fault.INTERNAL_ERROR: 2}
"""Faults that meet several writes in a row: more than the client itself tries again."""


@dataclass(slots=True)
class Case:
    """The writes of one key since `FaultPlan.begin`, and the fault that waits for one of them."""

    fault: Fault | None = None
    number: int = 0
    writes: list[str] = field(default_factory=list)
    met: str = ""
    """The write that met the fault."""


class FaultPlan:
    """Numbers the writes of each key from 1. May be used from any thread."""

    def __init__(self, key: str) -> None:
        """`key` is a regular expression; no match of it may be part of another."""
        self._key = re.compile(key.encode())
        self._lock = threading.Lock()
        self._cases: dict[str, Case] = {}

    def begin(self, key: str, fault: Fault | None = None, number: int = 0) -> None:
        """Counts the writes of a key anew; its write of that number will meet the fault."""
        with self._lock:
            self._cases[key] = Case(fault, number)

    def case(self, key: str) -> Case:
        """The state of a key's case, as it is now."""
        with self._lock:
            case = self._cases.get(key, Case())
            return Case(case.fault, case.number, list(case.writes), case.met)

    def total(self) -> int:
        """All writes of all keys since each was begun."""
        with self._lock:
            return sum(len(case.writes) for case in self._cases.values())

    def decide(self, method: str, path: str, body: bytes) -> Fault | None:
        """Counts a request if it is a write of a known key; the fault it meets."""
        address, _, query = path.partition("?")
        if method not in WRITES or address.startswith((*QUESTIONS, EVENTS)) or "dryRun" in query:
            return None
        found = self._key.search(address.encode()) or self._key.search(body)
        if found is None:
            return None
        key = found.group().decode()
        with self._lock:
            return self._count(key, f"{method} {address.replace(key, 'KEY')}")

    def _count(self, key: str, write: str) -> Fault | None:
        case = self._cases.setdefault(key, Case())
        case.writes.append(write)
        if case.fault is None:
            return None
        number = len(case.writes)
        if not case.number <= number < case.number + REPEATED.get(case.fault, 1):
            return None
        case.met = case.met or write
        return case.fault
