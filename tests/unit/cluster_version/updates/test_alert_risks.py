"""Alerts of a metrics store, as risks of updates."""

from typing import Any

import pytest

from cluster_version.updates.alert_risks import NO_PAGE, alert_risks
from cluster_version.updates.query_answer import read_alerts
from olm_runtime.errors import TerminalError


def alert(name: str, state: str = "firing", **more: str) -> dict[str, Any]:
    annotations = {key: more.pop(key) for key in ("summary", "runbook_url") if key in more}
    return {"labels": {"alertname": name, **more}, "annotations": annotations, "state": state}


def test_those_that_fire_and_matter_are_risks() -> None:
    found = alert_risks(
        [
            alert("KubeNodeNotReady", severity="warning", summary="A node is not ready"),
            alert("Any", severity="critical", runbook_url="https://example.com/any"),
            alert("Late", "pending", severity="critical"),
            alert("Mild", severity="warning"),
            alert("Mine", severity="info", openShiftUpdatePrecheck="true", runbook_url="x y"),
            alert("", severity="critical"),
        ]
    )
    assert [(each.name, each.message, each.url) for each in found] == [
        ("Any", "Any.", "https://example.com/any"),
        ("KubeNodeNotReady", "A node is not ready.", NO_PAGE),
        ("Mine", "Mine.", NO_PAGE),
    ]
    assert {(each.status.value, each.reason) for each in found.values()} == {
        ("True", "Alert:firing")
    }
    first = next(iter(found.values()))
    assert first.message == (
        "critical alert Any firing, suggesting significant cluster issues worth investigating. "
        "Any. The alert has no description. https://example.com/any"
    )


def test_alerts_of_a_name_are_one_risk() -> None:
    name = "PodDisruptionBudgetAtLimit"
    budgets = [alert(name, namespace="n", poddisruptionbudget=each) for each in ("a", "b")]
    [exposure] = alert_risks(budgets).values()
    first, second = exposure.message.split("; ")
    assert "Namespace=n, PodDisruptionBudget=a." in first
    assert "Namespace=n, PodDisruptionBudget=b." in second


def test_alerts_are_read_from_answers() -> None:
    assert read_alerts(b'{"status": "success", "data": {"alerts": [{"state": "firing"}]}}', "") == [
        {"state": "firing"}
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<html>", "the answer (502 Bad Gateway) is none of a metrics store"),
        (b'{"status": "success", "data": {}}', "is none of a metrics store"),
        (b'{"status": "success", "data": {"alerts": [1]}}', "is none of a metrics store"),
        (
            b'{"status": "error", "errorType": "timeout", "error": "late"}',
            "asking for alerts: timeout: late",
        ),
    ],
)
def test_what_is_no_answer_is_reported(body: bytes, problem: str) -> None:
    with pytest.raises(TerminalError) as caught:
        read_alerts(body, "502 Bad Gateway")
    assert problem in caught.value.message
