"""What firing alerts say about whether now is a good time for an update.

Alerts are as Prometheus' `/api/v1/alerts` gives them. Source of the rules: upstream's notes,
section 16.3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cluster_version.client_output.objects import FALSE, TRUE, Json, part

PREFIX = "recommended"
CRITICAL = "CriticalAlerts"
DISRUPTION = "PodDisruptionBudgetAlerts"
PULLS = "PodImagePullAlerts"
NODES = "NodeAlerts"
VIRTUAL = "VirtAlerts"
PRECHECKS = "UpdatePrecheckAlerts"

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
_ALWAYS_TOLD = (CRITICAL, DISRUPTION, PULLS, NODES, PRECHECKS)
"""Groups that are told of as well when none of their alerts fires."""


@dataclass(frozen=True)
class Finding:
    """A condition of the cluster; its issue is the name under which people accept it."""

    type: str
    status: str
    reason: str
    message: str
    issue: str = ""

    @property
    def good(self) -> bool:
        """Whether it speaks for an update."""
        return self.status == TRUE


def findings(alerts: Sequence[Json]) -> Sequence[Finding]:
    """What each alert of a group says, and which groups have none."""
    told: list[Finding] = []
    groups = set()
    for alert in alerts:
        group = _group(alert)
        if group and alert.get("state") != "pending":
            told.append(_finding(alert, group, len(told)))
            groups.add(group)
    quiet = [group for group in _ALWAYS_TOLD if group not in groups]
    return told + [Finding(f"{PREFIX}/{group}", TRUE, "AsExpected", "") for group in quiet]


def described(alert: Json) -> str:
    """The description and the message of an alert; empty if it has neither."""
    annotations = part(alert, "annotations")
    return " | ".join(filter(None, (annotations.get("description"), annotations.get("message"))))


def _group(alert: Json) -> str | None:
    labels = part(alert, "labels")
    name = labels.get("alertname")
    if not name:
        return None
    if labels.get("severity") == "critical":
        return CRITICAL
    if name in _GROUPS:
        return _GROUPS[name]
    if labels.get("openShiftUpdatePrecheck") == "true":
        return PRECHECKS
    return VIRTUAL if name in _VIRTUAL else None


def _finding(alert: Json, group: str, index: int) -> Finding:
    labels, state = part(alert, "labels"), alert.get("state") or ""
    name = labels["alertname"]
    return Finding(
        type=f"{PREFIX}/{group}/{name}/{index}",
        status=FALSE,
        reason=f"Alert:{state}",
        message=f"{labels.get('severity') or ''} alert {name} {state}, {_WORDS[group]}. "
        f"{' '.join(_details(alert, group))}",
        issue=name,
    )


def _details(alert: Json, group: str) -> Iterator[str]:
    labels, annotations = part(alert, "labels"), part(alert, "annotations")
    if group == DISRUPTION:
        budget = labels.get("poddisruptionbudget") or ""
        yield f"Namespace={labels.get('namespace') or ''}, PodDisruptionBudget={budget}."
    summary = annotations.get("summary") or labels["alertname"]
    yield summary if summary.endswith(".") else f"{summary}."
    description = described(alert)
    yield (
        f"The alert description is: {description}"
        if description
        else ("The alert has no description.")
    )
    yield annotations.get("runbook_url") or NO_RUNBOOK
