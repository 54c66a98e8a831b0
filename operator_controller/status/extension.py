"""The status of a ClusterExtension, from the facts that a reconcile gathered.

Wording: the documents' where they have one, else upstream's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from api import wire
from api.conditions import Condition, ConditionStatus
from api.objects import KubeObject, condition
from api.olm.v1.clusterextension import (
    BundleMetadata,
    ClusterExtension,
    ClusterExtensionStatus,
    InstallStatus,
    RevisionStatus,
)
from api.olm.v1.conditions import ConditionType, Reason
from olm_content.fbc.model import Deprecation
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait
from operator_controller.apply.revisions import Revision, Revisions
from operator_controller.apply.suspension import Suspension, way_on
from operator_controller.resolve import Note, NoteKind
from operator_controller.resolve.deprecation import concerning
from operator_controller.resolve.explain import note_text

Verdict = tuple[ConditionStatus, str, str]

DEPRECATION_TYPES = (
    ConditionType.DEPRECATED,
    ConditionType.PACKAGE_DEPRECATED,
    ConditionType.CHANNEL_DEPRECATED,
    ConditionType.BUNDLE_DEPRECATED,
)


@dataclass(frozen=True, slots=True)
class ExtensionFacts:
    """Everything that the status is computed from.

    `revisions` is None when they could not be read. `deprecations` is all that the catalog of
    the chosen bundle says of the package, None when none was chosen. `notes` are those on
    the choice. `suspension` is that of the extension, None if it is not suspended.
    """

    extension: ClusterExtension
    outcome: Outcome
    revisions: Revisions | None = None
    deprecations: tuple[Deprecation, ...] | None = None
    notes: tuple[Note, ...] = ()
    suspension: Suspension | None = None

    @property
    def installed(self) -> Revision | None:
        """What is installed, as far as is known."""
        return self.revisions.installed if self.revisions else None


def extension_status(facts: ExtensionFacts) -> ClusterExtensionStatus:
    """The status, with the conditions that changed or were computed."""
    verdicts = {
        **_deprecations(facts),
        ConditionType.INSTALLED: _installed(facts),
        ConditionType.PROGRESSING: _with_remains(_progressing(facts), facts.revisions),
        **_available(facts),
    }
    conditions = tuple(
        Condition(
            type=kind,
            status=status,
            reason=reason,
            message=message,
            observed_generation=facts.extension.metadata.generation,
        )
        for kind, (status, reason, message) in verdicts.items()
    )
    return ClusterExtensionStatus(
        conditions=conditions,
        install=_install(facts.revisions),
        active_revisions=_active(facts.revisions),
    )


def removing(remaining: Sequence[Revision], generation: int, limit: float) -> Condition | None:
    """What blocks the deletion of an extension's revisions; None while that is not known.

    After `limit` seconds the garbage collector is left with the rest.
    """
    found = [condition(r.raw, ConditionType.PROGRESSING) for r in remaining]
    messages = [c["message"] for c in found if c and c["reason"] == Reason.RETRYING]
    if not messages:
        return None
    end = f"after {limit / 60:.0f} minutes of removing the rest is left to garbage collection"
    return Condition(
        type=ConditionType.PROGRESSING,
        status=ConditionStatus.TRUE,
        reason=Reason.RETRYING,
        message="\n".join([*messages, end]),
        observed_generation=generation,
    )


def _installed(facts: ExtensionFacts) -> Verdict:
    if facts.revisions is None:
        return ConditionStatus.UNKNOWN, Reason.FAILED, _message(facts.outcome)
    installed = facts.revisions.installed
    if installed is not None:
        message = f"Installed bundle {installed.bundle.image} successfully"
        return ConditionStatus.TRUE, Reason.SUCCEEDED, message
    latest = facts.revisions.latest
    failing = latest is None or _reason(latest) == Reason.RETRYING
    reason = Reason.FAILED if failing else Reason.ABSENT
    return ConditionStatus.FALSE, reason, "No bundle installed"


def _progressing(facts: ExtensionFacts) -> Verdict:
    if facts.suspension is not None and facts.revisions is not None:
        return _suspended(facts.suspension, facts.revisions, facts.extension.metadata.name)
    match facts.outcome:
        case Blocked(reason=reason, message=message):
            return ConditionStatus.FALSE, reason, message
        case Retry(message=message):
            return ConditionStatus.TRUE, Reason.RETRYING, message
        case Wait(message=message) if message:
            return ConditionStatus.TRUE, Reason.ROLLING_OUT, message
        case Done() | Wait():
            verdict = _rollout(facts.revisions.latest if facts.revisions else None)
            return _with_remarks(verdict, facts.notes)


def _suspended(suspension: Suspension, revisions: Revisions, name: str) -> Verdict:
    """Suspended once every revision is; until then one may still be at work.

    Unknown, as Kubernetes has it of a paused Deployment: neither does anything go on, nor is
    anything wrong.
    """
    busy = [each.name for each in revisions.unfinished if not each.suspended]
    if busy:
        message = f"is being suspended: {', '.join(busy)} may still be reconciled"
        return ConditionStatus.TRUE, Reason.ROLLING_OUT, message
    lines = [suspension.text]
    latest = revisions.latest
    if latest is not None and not latest.succeeded:
        lines.append(f"{latest.bundle.name} (revision {latest.name}) has not rolled out")
    for each in revisions.active:
        lines += _progress_message(each).splitlines()[1:]
    lines.append(f"hint: {way_on(name)}")
    return ConditionStatus.UNKNOWN, Reason.SUSPENDED, "\n".join(lines)


def _with_remarks(verdict: Verdict, notes: Sequence[Note]) -> Verdict:
    """Only notes that stay the same while nothing changes, so that the status does too."""
    status, reason, message = verdict
    lines = [f"note: {note_text(n)}" for n in notes if n.kind is NoteKind.PRERELEASE_WITHOUT_RANGE]
    return status, reason, "\n".join([message, *lines])


def _with_remains(verdict: Verdict, revisions: Revisions | None) -> Verdict:
    """Adds what of replaced revisions is not removed: with that, no desired state is reached."""
    stuck = [r for r in revisions.every if r.obstacle] if revisions else []
    if not stuck:
        return verdict
    status, reason, message = verdict
    if reason == Reason.SUCCEEDED:
        reason, message = Reason.RETRYING, message.partition("\n")[2]
    lines = [f"what only revision {r.name} had is not removed: {r.obstacle}" for r in stuck]
    hint = (
        "hint: to leave its objects as they are, delete the revision: "
        f"kubectl delete clusterobjectset {stuck[0].name}"
    )
    return status, reason, "\n".join(filter(None, [message, *lines, hint]))


def _rollout(latest: Revision | None) -> Verdict:
    """The conditions of the newest revision as those of the extension."""
    if latest is None:
        return ConditionStatus.TRUE, Reason.RETRYING, "waiting for the first revision"
    found = condition(latest.raw, ConditionType.PROGRESSING)
    if found is None or latest.suspended:  # it was until now
        message = f"Revision {latest.bundle.version} is rolling out."
        return ConditionStatus.TRUE, Reason.ROLLING_OUT, message
    if found["reason"] == Reason.SUCCEEDED and latest.succeeded:
        degraded = found["message"].partition("\n")[2]
        return ConditionStatus.TRUE, Reason.SUCCEEDED, _steady(degraded)
    message = found["message"]
    if found["reason"] not in (Reason.ROLLING_OUT, Reason.PROGRESS_DEADLINE_EXCEEDED):
        bundle = latest.bundle
        message = (
            f'error for resolved bundle "{bundle.name}" with version "{bundle.version}": {message}'
        )
    return ConditionStatus(found["status"]), found["reason"], message


def _steady(degraded: str) -> str:
    return f"desired state reached\n{degraded}" if degraded else "desired state reached"


def _available(facts: ExtensionFacts) -> dict[ConditionType, Verdict]:
    shown = facts.revisions and (facts.revisions.installed or facts.revisions.latest)
    found = condition(shown.raw, ConditionType.AVAILABLE) if shown else None
    if found is None:
        return {}
    verdict = (ConditionStatus(found["status"]), found["reason"], found["message"])
    return {ConditionType.AVAILABLE: verdict}


def _deprecations(facts: ExtensionFacts) -> dict[ConditionType, Verdict]:
    """The four conditions; when no bundle was chosen, those of last time stay as they are."""
    if facts.deprecations is None:
        message = "deprecation status unknown: catalog data unavailable"
        unknown = ConditionStatus.UNKNOWN, Reason.DEPRECATION_STATUS_UNKNOWN, message
        known = {c.type for c in facts.extension.status.conditions}
        return {kind: unknown for kind in DEPRECATION_TYPES if kind not in known}
    messages = concerning(
        facts.deprecations,
        channels=facts.extension.spec.source.catalog.channels,
        bundle=facts.installed.bundle.name if facts.installed else "",
    )
    verdicts = {
        ConditionType.DEPRECATED: _deprecated(messages.all),
        ConditionType.PACKAGE_DEPRECATED: _deprecated(messages.package),
        ConditionType.CHANNEL_DEPRECATED: _deprecated(messages.channels),
        ConditionType.BUNDLE_DEPRECATED: _deprecated(messages.bundle),
    }
    if facts.installed is None:
        absent = ConditionStatus.UNKNOWN, Reason.ABSENT, "no bundle installed yet"
        verdicts[ConditionType.BUNDLE_DEPRECATED] = absent
    return verdicts


def _deprecated(messages: Sequence[str]) -> Verdict:
    text = "\n".join(messages)
    status = ConditionStatus.TRUE if text else ConditionStatus.FALSE
    return status, Reason.DEPRECATED, text


def _install(revisions: Revisions | None) -> InstallStatus | None:
    installed = revisions.installed if revisions else None
    if installed is None:
        return None
    bundle = installed.bundle
    return InstallStatus(
        bundle=BundleMetadata(name=bundle.name, version=bundle.version, release=bundle.release)
    )


def _active(revisions: Revisions | None) -> tuple[RevisionStatus, ...]:
    active = revisions.active if revisions else ()
    return tuple(RevisionStatus(name=r.name, conditions=_unfinished(r)) for r in active)


def _unfinished(revision: Revision) -> tuple[Condition, ...]:
    if revision.succeeded:
        return ()
    shown = (ConditionType.PROGRESSING, ConditionType.AVAILABLE)
    found = (condition(revision.raw, kind) for kind in shown)
    return tuple(_condition(c) for c in found if c is not None)


def _condition(raw: KubeObject) -> Condition:
    return wire.read(Condition, raw)


def _reason(revision: Revision) -> str:
    found = condition(revision.raw, ConditionType.PROGRESSING)
    return str(found["reason"]) if found else ""


def _progress_message(revision: Revision) -> str:
    found = condition(revision.raw, ConditionType.PROGRESSING)
    return str(found["message"]) if found else ""


def _message(outcome: Outcome) -> str:
    match outcome:
        case Blocked(message=message) | Retry(message=message) | Wait(message=message):
            return message
        case Done():
            return ""
