"""What a reconcile of a ClusterObjectSet found, as its conditions. Wording: upstream's."""

from dataclasses import dataclass

from api.conditions import Condition, ConditionStatus
from api.olm.v1.conditions import ConditionType, Reason
from olm_rollout.progress import Progress
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait

MAX_LINES = 20
"""Objects that a condition lists before it only counts the rest."""


@dataclass(frozen=True, slots=True)
class RevisionFacts:
    """What the conditions are computed from."""

    version: str
    generation: int
    archived: bool
    progress: Progress
    outcome: Outcome
    succeeded_before: bool
    leaving: bool = False
    """Whether the revision is being deleted."""
    suspended: str = ""
    """That nothing of it is to be written, and why."""
    overdue_minutes: int | None = None
    """The deadline for rolling out, when it has passed and the revision never rolled out."""


def revision_conditions(facts: RevisionFacts) -> tuple[Condition, ...]:
    """Progressing, Available and, once it rolled out, Succeeded."""
    conditions = [_progressing(facts), _available(facts)]
    if facts.succeeded_before or (facts.progress.complete and not facts.archived):
        conditions.append(
            _condition(
                facts,
                ConditionType.SUCCEEDED,
                (ConditionStatus.TRUE, Reason.SUCCEEDED, "Revision succeeded rolling out."),
            )
        )
    return tuple(conditions)


Verdict = tuple[ConditionStatus, str, str]


def _condition(facts: RevisionFacts, kind: ConditionType, verdict: Verdict) -> Condition:
    status, reason, message = verdict
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        observed_generation=facts.generation,
    )


def _progressing(facts: RevisionFacts) -> Condition:
    return _condition(facts, ConditionType.PROGRESSING, _progress(facts))


def _progress(facts: RevisionFacts) -> Verdict:
    """In time or not: what is blocked or done stays so, anything else has taken too long."""
    if facts.suspended:
        return ConditionStatus.UNKNOWN, Reason.SUSPENDED, _suspended(facts)
    status, reason, message = _timeless_progress(facts)
    if facts.overdue_minutes is None or status is ConditionStatus.FALSE:
        return status, reason, message
    if reason is Reason.SUCCEEDED:
        return status, reason, message
    late = f"Revision has not rolled out for {facts.overdue_minutes} minute(s). Last status: "
    return ConditionStatus.FALSE, Reason.PROGRESS_DEADLINE_EXCEEDED, late + message


def _suspended(facts: RevisionFacts) -> str:
    found: tuple[str, ...] = ()
    match facts.outcome:
        case Blocked(message=message) | Retry(message=message) | Wait(message=message) if message:
            found = (message,)
        case _:
            pass
    if facts.progress.drifted:
        found += (_lines(facts.progress.drifted),)
    return "\n".join((facts.suspended, *found, *facts.progress.degraded))


def _timeless_progress(facts: RevisionFacts) -> Verdict:
    match facts.outcome:
        case Blocked(reason=reason, message=message):
            return ConditionStatus.FALSE, reason, message
        case Retry(message=message):
            return ConditionStatus.TRUE, Reason.RETRYING, message
        case Wait(message=message) if message and (facts.archived or facts.leaving):
            return ConditionStatus.TRUE, Reason.RETRYING, message
        case Wait(message=message) if message and not facts.progress.complete:
            return ConditionStatus.TRUE, Reason.ROLLING_OUT, message
        case Done() | Wait():
            pass
    if facts.archived:
        return ConditionStatus.FALSE, Reason.ARCHIVED, "revision is archived"
    if facts.progress.contended:
        return ConditionStatus.TRUE, Reason.RETRYING, _lines(facts.progress.contended)
    if not facts.progress.complete:
        message = f"Revision {facts.version} is rolling out."
        return ConditionStatus.TRUE, Reason.ROLLING_OUT, message
    message = "\n".join((f"Revision {facts.version} has rolled out.", *facts.progress.degraded))
    return ConditionStatus.TRUE, Reason.SUCCEEDED, message


def _available(facts: RevisionFacts) -> Condition:
    return _condition(facts, ConditionType.AVAILABLE, _availability(facts))


def _availability(facts: RevisionFacts) -> Verdict:
    if facts.archived:
        return ConditionStatus.UNKNOWN, Reason.ARCHIVED, "revision is archived"
    match facts.outcome:
        case Retry(message=message) | Blocked(message=message):
            return ConditionStatus.UNKNOWN, Reason.RECONCILING, message
        case Wait(message=message) if facts.leaving:
            return ConditionStatus.UNKNOWN, Reason.RECONCILING, message
        case _:
            pass
    failing = facts.progress.waiting + facts.progress.unhealthy
    if failing:
        return ConditionStatus.FALSE, Reason.PROBE_FAILURE, _lines(failing)
    if not facts.progress.complete:
        message = f"Revision {facts.version} is rolling out."
        return ConditionStatus.FALSE, Reason.ROLLING_OUT, message
    message = "Objects are available and pass all probes."
    return ConditionStatus.TRUE, Reason.PROBES_SUCCEEDED, message


def _lines(found: tuple[str, ...]) -> str:
    shown = sorted(found)[:MAX_LINES]
    if len(found) > MAX_LINES:
        shown.append(f"and {len(found) - MAX_LINES} more")
    return "\n".join(shown)
