"""Which firing alerts speak against an update now, and the messages about them.

Alerts are as Prometheus' `/api/v1/alerts` gives them. Source of the rules: upstream's notes,
sections 4.4 and 16.3.
"""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

CRITICAL = "CriticalAlerts"
DISRUPTION = "PodDisruptionBudgetAlerts"
PULLS = "PodImagePullAlerts"
NODES = "NodeAlerts"
VIRTUAL = "VirtAlerts"
PRECHECKS = "UpdatePrecheckAlerts"
GROUPS = (CRITICAL, DISRUPTION, PULLS, NODES, PRECHECKS)
"""Those of which is reported as well that none of their alerts fires."""

NO_RUNBOOK = "<alert does not have a runbook_url annotation>"
_SLOW = "which may slow workload redistribution during rolling node updates"
_WORDS = {
    CRITICAL: "suggesting significant cluster issues worth investigating",
    DISRUPTION: "which might slow node drains",
    PULLS: _SLOW,
    NODES: _SLOW,
    VIRTUAL: _SLOW,
    PRECHECKS: "suggesting issues worth investigating before updating the cluster",
}
_GROUPS = {
    "PodDisruptionBudgetAtLimit": DISRUPTION,
    "KubeContainerWaiting": PULLS,
    "KubeletHealthState": NODES,
    "KubeNodeNotReady": NODES,
    "KubeNodeReadinessFlapping": NODES,
    "KubeNodeUnreachable": NODES,
}
_VIRTUAL = frozenset({"VirtHandlerDaemonSetRolloutFailing", "VMCannotBeEvicted"})


def _labels(alert: Json) -> Json:
    return alert.get("labels") or {}


def _annotations(alert: Json) -> Json:
    return alert.get("annotations") or {}


def name_of(alert: Json) -> str:
    """The name of an alert; empty if it has none."""
    return _labels(alert).get("alertname") or ""


def is_firing(alert: Json) -> bool:
    """Whether it has lasted as long as its rule demands."""
    return alert.get("state") != "pending"


def group_of(alert: Json) -> str | None:
    """Why an alert speaks against updates; None if it does not."""
    labels, name = _labels(alert), name_of(alert)
    if not name:
        return None
    if labels.get("severity") == "critical":
        return CRITICAL
    if name in _GROUPS:
        return _GROUPS[name]
    if labels.get("openShiftUpdatePrecheck") == "true":
        return PRECHECKS
    return VIRTUAL if name in _VIRTUAL else None


def reason_of(alert: Json) -> str:
    """The reason of a condition that reports an alert."""
    return f"Alert:{alert.get('state') or ''}"


def message_of(alert: Json, group: str) -> str:
    """The message about an alert of a group."""
    severity, state = _labels(alert).get("severity") or "", alert.get("state") or ""
    firing = f"{severity} alert {name_of(alert)} {state}, {_WORDS[group]}."
    return f"{firing} {' '.join(_details(alert, group))}"


def summary_of(alert: Json) -> str:
    """An alert in a sentence."""
    summary = _annotations(alert).get("summary") or name_of(alert)
    return summary if summary.endswith(".") else f"{summary}."


def runbook_of(alert: Json) -> str:
    """The address of what to do about an alert; empty if it does not say."""
    return _annotations(alert).get("runbook_url") or ""


def described(alert: Json) -> str:
    """The description and the message of an alert; empty if it has neither."""
    annotations = _annotations(alert)
    return " | ".join(filter(None, (annotations.get("description"), annotations.get("message"))))


def _details(alert: Json, group: str) -> Iterator[str]:
    labels = _labels(alert)
    if group == DISRUPTION:
        budget = labels.get("poddisruptionbudget") or ""
        yield f"Namespace={labels.get('namespace') or ''}, PodDisruptionBudget={budget}."
    yield summary_of(alert)
    description = described(alert)
    yield (
        f"The alert description is: {description}"
        if description
        else "The alert has no description."
    )
    yield runbook_of(alert) or NO_RUNBOOK
