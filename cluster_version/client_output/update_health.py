"""The section of a status that says what speaks against an update coming to its end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from cluster_version.client_output.columns import aligned
from cluster_version.client_output.durations import moment, short
from cluster_version.client_output.objects import Json, part
from cluster_version.decisions.alerts import NO_RUNBOOK, described

CONFIG = "config.openshift.io"
PAD = 13
"""How wide the names of fields are."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_AFFECTING = frozenset({"PodDisruptionBudgetLimit", "PodDisruptionBudgetAtLimit"})
"""Alerts that are shown even if they fired before the update."""
_HINT = (
    "\nRun with --details=health for additional description and links to related online "
    "documentation\n"
)


class Level(IntEnum):
    """How bad something is."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    CRITICAL = 3

    def __str__(self) -> str:
        return self.name.title()


@dataclass(frozen=True)
class Insight:
    """Something that an administrator should know of; `since` is None where nobody knows."""

    since: datetime | None
    level: Level
    impact: str
    summary: str
    description: str = ""
    reference: str = ""
    kind: str = ""
    """Kind and group of the object in question, as resources are named."""
    name: str = ""

    @property
    def complete(self) -> bool:
        """Whether it can be shown; what lacks a text is left out."""
        return bool(self.description and self.summary and self.reference)


_SEVERITIES = {"warning": Level.WARNING, "critical": Level.CRITICAL}


def alert_insights(alerts: Sequence[Json], started: datetime) -> Iterator[Insight]:
    """Firing alerts that began with the update, or are known to hinder updates."""
    for alert in alerts:
        labels, annotations = part(alert, "labels"), part(alert, "annotations")
        name = labels.get("alertname")
        since = moment(alert.get("activeAt")) or _LONG_AGO
        when = _when(name, during=since > started) if name else None
        level = _SEVERITIES.get(labels.get("severity") or "")
        if not when or not level or alert.get("state") == "pending":
            continue
        text = described(alert)
        details = f" The alert description is: {text}" if text else " The alert has no description."
        yield Insight(
            since=since,
            level=level,
            impact="Unknown",
            summary=f"Alert is firing: {annotations.get('summary') or name}",
            description=when + details,
            reference=annotations.get("runbook_url") or NO_RUNBOOK,
            kind=f"alerts.{CONFIG}",
            name="/".join(filter(None, (labels.get("namespace"), name))),
        )


def _when(name: str, *, during: bool) -> str | None:
    """What is said of an alert's beginning; None of one that has nothing to do with the update."""
    if name not in _AFFECTING:
        return "Alert started firing during the update." if during else None
    if during:
        return "Alert known to affect updates started firing during the update."
    return "Alert known to affect updates has been firing since before the update started."


def health_section(
    insights: Sequence[Insight], updating_for: timedelta, now: datetime, *, detailed: bool
) -> str:
    """The worst first, and of the same level the latest first."""
    complete = sorted(
        (each for each in insights if each.complete),
        key=lambda each: (each.level, each.since or _LONG_AGO),
        reverse=True,
    )
    if not complete:
        well = Insight(now - updating_for, Level.INFO, "None", "Update is proceeding well")
        return f"= Update Health =\n{_table([well], now)}"
    shown = "\n".join(_block(each, now) for each in complete) if detailed else _table(complete, now)
    return f"= Update Health =\n{shown}"


def _since(insight: Insight, now: datetime) -> str:
    return short(now - insight.since) if insight.since else "-"


def _table(insights: Sequence[Insight], now: datetime) -> str:
    rows = ["SINCE\tLEVEL\tIMPACT\tMESSAGE\n"]
    rows += [
        f"{_since(each, now)}\t{each.level}\t{each.impact}\t{each.summary}\n" for each in insights
    ]
    more = len(insights) > 1 or insights[0].level > Level.INFO
    return aligned("".join(rows)) + (_HINT if more else "")


def _block(insight: Insight, now: datetime) -> str:
    description = insight.description.replace("\n", f"\n{' ' * (PAD + 2)}, ")
    return "".join(
        (
            f"Message: {insight.summary}\n",
            _field("Since:", _since(insight, now)),
            _field("Level:", str(insight.level)),
            _field("Impact:", insight.impact),
            _field("Reference:", insight.reference),
            f"  Resources:\n    {insight.kind}: {insight.name}\n",
            _field("Description:", description),
        )
    )


def _field(name: str, value: str) -> str:
    return f"  {name:<{PAD}}{value}\n"
