"""What kstatus reads of a status follows from the conditions of the kind."""

from datetime import UTC, datetime
from typing import Any

import pytest

from olm_runtime.controller.kstatus import with_kstatus

THEN = "2026-01-01T00:00:00Z"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PROGRESSING = ("Progressing", "True", "Succeeded")
AVAILABLE = ("Available", "True", "ProbesSucceeded")
SERVING = ("Serving", "True", "Available")


def conditions(*given: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": f"why {kind}",
            "lastTransitionTime": THEN,
        }
        for kind, status, reason in given
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], None),
        ([PROGRESSING], None),
        ([PROGRESSING, AVAILABLE], None),
        ([PROGRESSING, SERVING], None),
        ([PROGRESSING, ("Serving", "False", "UserSpecifiedUnavailable")], None),
        ([("Progressing", "False", "Archived"), ("Available", "Unknown", "Archived")], None),
        ([("Progressing", "Unknown", "Suspended"), AVAILABLE], None),
        ([("Progressing", "True", "RollingOut")], ("Reconciling", "RollingOut", "Progressing")),
        (
            [("Progressing", "True", "Retrying"), AVAILABLE],
            ("Reconciling", "Retrying", "Progressing"),
        ),
        (
            [PROGRESSING, ("Available", "False", "ProbeFailure")],
            ("Reconciling", "ProbeFailure", "Available"),
        ),
        (
            [PROGRESSING, ("Available", "Unknown", "Reconciling")],
            ("Reconciling", "Reconciling", "Available"),
        ),
        (
            [PROGRESSING, ("Serving", "False", "Unavailable")],
            ("Reconciling", "Unavailable", "Serving"),
        ),
        (
            [("Progressing", "False", "Blocked"), ("Available", "False", "ProbeFailure")],
            ("Stalled", "Blocked", "Progressing"),
        ),
        (
            [("Progressing", "False", "ProgressDeadlineExceeded")],
            ("Stalled", "ProgressDeadlineExceeded", "Progressing"),
        ),
    ],
)
def test_follows(given: list[tuple[str, str, str]], expected: tuple[str, str, str] | None) -> None:
    obj = {"metadata": {"generation": 3}}
    status = with_kstatus(obj, {"conditions": conditions(*given), "install": {"a": 1}}, NOW)
    before, added = status["conditions"][: len(given)], status["conditions"][len(given) :]
    assert (before, status["install"]) == (conditions(*given), {"a": 1})
    assert status["observedGeneration"] == 3
    found = [(c["type"], c["status"], c["reason"], c["message"]) for c in added]
    want = [(expected[0], "True", expected[1], f"why {expected[2]}")] if expected else []
    assert found == want


def test_one_that_goes_on_holding_keeps_its_time_and_the_other_kind_goes() -> None:
    first = with_kstatus({}, {"conditions": conditions(("Progressing", "True", "RollingOut"))}, NOW)
    [_, reconciling] = first["conditions"]
    assert reconciling["lastTransitionTime"] == "2026-01-02T00:00:00Z"
    later = datetime(2026, 1, 3, tzinfo=UTC)
    retrying = {**first, "conditions": conditions(("Progressing", "True", "Retrying"))}
    second = with_kstatus({"status": first}, retrying, later)
    assert second["conditions"][1]["reason"] == "Retrying"
    assert second["conditions"][1]["lastTransitionTime"] == "2026-01-02T00:00:00Z"
    blocked = {**second, "conditions": conditions(("Progressing", "False", "Blocked"))}
    third = with_kstatus({"status": second}, blocked, later)
    assert [c["type"] for c in third["conditions"]] == ["Progressing", "Stalled"]
    assert third["conditions"][1]["lastTransitionTime"] == "2026-01-03T00:00:00Z"


def test_the_same_status_again_is_equal() -> None:
    status = {"conditions": conditions(("Progressing", "True", "RollingOut"))}
    once = with_kstatus({}, status, NOW)
    assert with_kstatus({"status": once}, once, datetime(2026, 2, 1, tzinfo=UTC)) == once
