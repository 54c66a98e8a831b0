"""Firing alerts as risks of updates, of all alike. Source of the rules: upstream's notes, 4.4."""

from collections.abc import Iterable
from dataclasses import replace

from api.conditions import ConditionStatus
from cluster_version.decisions.alerts import (
    Json,
    group_of,
    is_firing,
    message_of,
    name_of,
    reason_of,
    runbook_of,
    summary_of,
)
from cluster_version.updates.graph import Risk, Rule
from cluster_version.updates.risks import Exposure

NO_PAGE = "https://github.com/openshift/runbooks/tree/master/alerts?runbook=notfound"
"""The address that a risk must have, of an alert without one."""


def alert_risks(alerts: Iterable[Json]) -> dict[Risk, Exposure]:
    """The risks of alerts that fire, by name in alphabetical order; alerts of a name are one."""
    risks: dict[str, tuple[Risk, Exposure]] = {}
    for alert in alerts:
        group, name = group_of(alert), name_of(alert)
        if group is None or not is_firing(alert):
            continue
        exposure = Exposure(ConditionStatus.TRUE, message_of(alert, group), reason_of(alert))
        risk = Risk(name, summary_of(alert), _page(alert), (Rule(),))
        if name in risks:
            risk, before = risks[name]
            exposure = replace(before, message=f"{before.message}; {exposure.message}")
        risks[name] = risk, exposure
    return {risk: exposure for _, (risk, exposure) in sorted(risks.items())}


def _page(alert: Json) -> str:
    runbook = runbook_of(alert)
    return runbook if runbook.startswith(("https://", "http://")) else NO_PAGE
