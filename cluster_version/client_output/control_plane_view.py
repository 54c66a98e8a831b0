"""The section of a status about the ClusterOperators of an update."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from api.objects import condition
from cluster_version.client_output.columns import aligned
from cluster_version.client_output.durations import (
    MINUTE,
    SECOND,
    moment,
    rounded,
    short,
    truncated,
)
from cluster_version.client_output.objects import FALSE, TRUE, Json, part
from cluster_version.client_output.update_health import CONFIG, Insight, Level
from cluster_version.client_output.upgrade_view import Form

RUNBOOKS = "https://github.com/openshift/runbooks/blob/master/alerts/cluster-monitoring-operator/"
DEGRADED, DOWN = f"{RUNBOOKS}ClusterOperatorDegraded.md", f"{RUNBOOKS}ClusterOperatorDown.md"
HISTORY_DOCS = (
    "https://docs.openshift.com/container-platform/latest/updating/troubleshooting_updates/"
    "gathering-data-cluster-update.html#gathering-clusterversion-history-cli_troubleshooting_updates"
)
NODES_OPERATOR = "machine-config"
_RELEASE = ("exclude.release.openshift.io/", "include.release.openshift.io/")
"""Annotations of the operators that come with a release."""
_GRACE = 5 * MINUTE
_UNAVAILABLE_ERROR, _DEGRADED_ERROR = 20 * MINUTE, 40 * MINUTE
_VAGUE = 10 * MINUTE
_HOUR = timedelta(hours=1)


@dataclass
class _Operators:
    total: int = 0
    updated: int = 0
    waiting: int = 0
    unavailable: int = 0
    degraded: int = 0
    updating: list[tuple[str, Json]] = field(default_factory=list)
    """Names with the condition Progressing."""
    last_progress: datetime | None = None
    nodes_began: datetime | None = None

    @property
    def done(self) -> bool:
        return self.updated == self.total

    @property
    def share(self) -> float:
        return self.updated / self.total if self.total else 0.0


def architectures_change(history: Sequence[Json]) -> bool:
    """Whether the cluster goes to the same version's release for several architectures."""
    return (
        len(history) > 1
        and history[0].get("version") == history[1].get("version")
        and history[0].get("image") != history[1].get("image")
    )


def released(operators: Sequence[Json]) -> Sequence[Json]:
    """The operators that come with a release."""
    return [
        each
        for each in operators
        if any(key.startswith(_RELEASE) for key in part(each, "metadata", "annotations"))
    ]


def control_plane_insights(
    cluster_version: Json, operators: Sequence[Json], now: datetime, *, done: bool
) -> Iterator[Insight]:
    """What speaks against the update: the cluster's own condition, operators, the history."""
    yield from _failing(cluster_version, now)
    for operator in released(operators):
        yield from _operator_insights(operator, now)
    yield from _unfinished(cluster_version, done=done)


def _failing(cluster_version: Json, now: datetime) -> Iterator[Insight]:
    name = cluster_version["metadata"]["name"]
    failing = condition(cluster_version, "Failing")
    if failing and failing["status"] == FALSE:
        return
    summary = f"Cluster Version {name} has no Failing condition"
    description = (
        "Current status of Cluster Version reconciliation is unclear.  See 'oc -n "
        "openshift-cluster-version logs -l k8s-app=cluster-version-operator --tail -1' to debug."
    )
    if failing:
        reason = failing.get("reason") or ""
        summary = f"Cluster Version {name} is failing to proceed with the update ({reason})"
        description = failing.get("message") or ""
    since = moment(failing.get("lastTransitionTime")) if failing else now
    impact = "Update Stalled"
    kind = f"clusterversions.{CONFIG}"
    yield Insight(since, Level.WARNING, impact, summary, description, DEGRADED, kind, name)


def _operator_insights(operator: Json, now: datetime) -> Iterator[Insight]:
    name = operator["metadata"]["name"]
    for type_, bad, word, error_after, reference in (
        ("Available", FALSE, "unavailable", _UNAVAILABLE_ERROR, DOWN),
        ("Degraded", TRUE, "degraded", _DEGRADED_ERROR, DEGRADED),
    ):
        found = condition(operator, type_)
        since = moment((found or {}).get("lastTransitionTime"))
        if not found or not since or found["status"] != bad or now <= since + _GRACE:
            continue
        yield Insight(
            since=since,
            level=Level.ERROR if now > since + error_after else Level.WARNING,
            impact="API Availability",
            summary=f"Cluster Operator {name} is {word} ({found.get('reason') or ''})",
            description=found.get("message") or "<no message>",
            reference=reference,
            kind=f"clusteroperators.{CONFIG}",
            name=name,
        )


def _unfinished(cluster_version: Json, *, done: bool) -> Iterator[Insight]:
    history = part(cluster_version, "status").get("history") or []
    if done or len(history) < 2 or history[1].get("state") != "Partial":
        return
    completed = (each["version"] for each in history[2:] if each.get("state") == "Completed")
    target, previous = history[0].get("version"), history[1].get("version")
    yield Insight(
        since=moment(history[0].get("startedTime")),
        level=Level.WARNING,
        impact="None",
        summary=f"Previous update to {previous} never completed, last complete update was "
        f"{next(completed, 'unknown')}",
        description=f"Current update to {target} was initiated while the previous update to "
        f"version {previous} was still in progress",
        reference=HISTORY_DOCS,
        kind=f"clusterversions.{CONFIG}",
        name=cluster_version["metadata"]["name"],
    )


def count_operators(
    cluster_version: Json, operators: Sequence[Json], nodes_image: str
) -> _Operators:
    """`nodes_image` is that of the operator of nodes, which tells architectures apart."""
    counted = _Operators()
    status = part(cluster_version, "status")
    target = part(status, "desired").get("version")
    image = nodes_image if architectures_change(status.get("history") or []) else ""
    for operator in released(operators):
        _count(counted, operator, updated=_updated(operator, target, image))
    if counted.nodes_began and counted.total - counted.updated == 1:
        # Operators of DaemonSets start anew whenever a node restarts.
        counted.last_progress = counted.nodes_began
    return counted


def _updated(operator: Json, target: str | None, image: str) -> bool:
    versions = part(operator, "status").get("versions") or []
    at = {each["name"]: each.get("version") for each in versions}
    if image and operator["metadata"]["name"] == NODES_OPERATOR:
        return at.get("operator") == target and at.get("operator-image") == image
    return "operator" in at and at["operator"] == target


def _count(counted: _Operators, operator: Json, *, updated: bool) -> None:
    name = operator["metadata"]["name"]
    counted.total += 1
    counted.updated += updated
    available, degraded = condition(operator, "Available"), condition(operator, "Degraded")
    if not available or available["status"] != TRUE:
        counted.unavailable += 1
    elif degraded and degraded["status"] == TRUE:
        counted.degraded += 1
    progressing = condition(operator, "Progressing")
    if not progressing:
        return
    since = moment(progressing.get("lastTransitionTime"))
    if since and (counted.last_progress is None or since > counted.last_progress):
        counted.last_progress = since
    if not updated and progressing["status"] == TRUE:
        counted.updating.append((name, progressing))
        counted.nodes_began = since if name == NODES_OPERATOR else counted.nodes_began
    if not updated and progressing["status"] == FALSE:
        counted.waiting += 1


def control_plane_section(
    cluster_version: Json, counted: _Operators, now: datetime, *, detailed: bool, form: Form
) -> str:
    """How far the operators are, and how long it will take."""
    history = part(cluster_version, "status").get("history") or []
    began = moment(history[0].get("startedTime")) if history else None
    ended = moment(history[0].get("completionTime")) if history else None
    until = ended if ended and history[0].get("state") == "Completed" else now
    lasted = until - began if began else timedelta()
    duration = rounded(lasted, MINUTE if lasted > _VAGUE else SECOND)
    target = history[0].get("version") or "" if history else "unknown"
    if counted.done:
        at = until.strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f"= Control Plane =\nUpdate to {target} successfully completed at {at} "
            f"(duration: {short(duration)})\n"
        )
    remaining = _remaining(counted, history, began, lasted, now)
    moving = architectures_change(history)
    names = ", ".join(name for name, _ in counted.updating)
    share = f"{counted.share * 100:.0f}% ({counted.updated} operators updated"
    updating = f"{len(counted.updating)} updating, {counted.waiting} waiting)"
    text = "".join(
        (
            "= Control Plane =\n",
            f"Assessment:      {_assessment(remaining, moving=moving)}\n",
            f"Target Version:  {target}{_origin(history, moving=moving)}\n",
            f"Updating:        {names}\n" if names else "",
            f"Completion:      {share}, {updating}\n",
            f"Duration:        {short(duration)}{_estimate(remaining, lasted, moving=moving)}\n",
            f"Operator Health: {_healthy(counted)}\n",
        )
    )
    return text + (_updating_table(counted, now, form) if detailed and counted.updating else "")


def _assessment(remaining: timedelta, *, moving: bool) -> str:
    if moving or remaining >= timedelta():
        return "Progressing"
    return "Stalled" if remaining < -_VAGUE else "Progressing - Slow"


def _origin(history: Sequence[Json], *, moving: bool) -> str:
    if len(history) == 1:
        return " (a new install)"
    if not history:
        return " (from unknown)"
    if moving:
        return " to Multi-Architecture"
    incomplete = "incomplete " if history[1].get("state") == "Partial" else ""
    return f" (from {incomplete}{history[1].get('version') or ''})"


def _healthy(counted: _Operators) -> str:
    counts = [f"{counted.total - counted.unavailable - counted.degraded} Healthy"]
    counts += [f"{counted.unavailable} Unavailable"] if counted.unavailable else []
    counts += [f"{counted.degraded} Available but degraded"] if counted.degraded else []
    return ", ".join(counts)


def _estimate(remaining: timedelta, lasted: timedelta, *, moving: bool) -> str:
    if not remaining:
        return ""
    if moving:
        return " (Est. Time Remaining: N/A for Multi-Architecture Migration)"
    if remaining < -_VAGUE:
        total = short(truncated(lasted + remaining, MINUTE))
        return f" (Est. Time Remaining: N/A; estimate duration was {total})"
    duration = f"<{short(_VAGUE)}" if remaining < _VAGUE else short(remaining)
    return f" (Est. Time Remaining: {duration})"


def _remaining(
    counted: _Operators,
    history: Sequence[Json],
    began: datetime | None,
    lasted: timedelta,
    now: datetime,
) -> timedelta:
    """How long the update will take yet, by what it took so far or by an earlier one."""
    progress = timedelta()
    if began:
        last = counted.last_progress
        progress = (last if last and last > began else now) - began
    done = _time_share(counted.share)
    usable = counted.share > 0 and done > 0 and progress > _GRACE
    total = progress / done if usable else _earlier(history)
    left = (total - lasted) / SECOND
    left *= 1.2 if left >= 0 else 1 / 1.2
    estimate = timedelta(seconds=int(left))
    return rounded(estimate, MINUTE) if estimate > _VAGUE else estimate


def _earlier(history: Sequence[Json]) -> timedelta:
    """What the last complete update took; an hour where none but the installation is known."""
    for each in history[1:-1]:
        began, ended = moment(each.get("startedTime")), moment(each.get("completionTime"))
        if each.get("state") == "Completed" and began and ended:
            return ended - began
    return _HOUR


_CURVES = (
    (0.25, (-0.03078788, 2.62886, -3.823954)),
    (0.9, (0.1851215, 1.64994, -4.676898, 5.451824, -2.125286)),
    (float("inf"), (25053.32, -107394.3, 172527.2, -123107, 32921.81)),
)
"""Polynomials for shares below a bound: 97 % of the operators take about 67 % of the time."""


def _time_share(share: float) -> float:
    """The share of the time that is over when a share of the operators is updated."""
    factors = next(factors for bound, factors in _CURVES if share < bound)
    return sum(factor * share**power for power, factor in enumerate(factors))


def _since(duration: timedelta, form: Form) -> str:
    """The current client takes milliseconds and microseconds for seconds."""
    if form is Form.CURRENT and timedelta() < duration < SECOND:
        count = duration.microseconds
        return short(timedelta(seconds=count // 1000 or count))
    return short(duration)


def _updating_table(counted: _Operators, now: datetime, form: Form) -> str:
    rows = ["\nUpdating Cluster Operators\nNAME\tSINCE\tREASON\tMESSAGE\n"]
    for name, progressing in counted.updating:
        since = moment(progressing.get("lastTransitionTime")) or now
        message = (progressing.get("message") or "").replace("\n", "\n\t\t\t")
        reason = progressing.get("reason") or "-"
        rows.append(f"{name}\t{_since(now - since, form)}\t{reason}\t{message}\n")
    return aligned("".join(rows))
