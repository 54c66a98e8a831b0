"""What changed from one status of a ClusterExtension to the next, as Events. Pure.

Numbers of pods and of objects that are waited for change often; a condition whose message alone
is another is an Event only where it names a fault.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clusterextension import BundleMetadata, ClusterExtensionStatus
from api.olm.v1.conditions import ConditionType, Reason
from olm_runtime.event import Happening
from operator_controller.apply.history import is_lower
from operator_controller.apply.revisions import BundleIdentity


class EventReason(StrEnum):
    """The reasons of Events that no condition has; faults have their condition's."""

    INSTALLING = "Installing"
    UPDATING = "Updating"
    ROLLING_BACK = "RollingBack"
    RECONFIGURING = "Reconfiguring"
    INSTALLED = "Installed"
    UPDATED = "Updated"
    ROLLED_BACK = "RolledBack"
    NOT_INSTALLED = "NotInstalled"
    SUCCEEDED = "Succeeded"
    AVAILABLE = "Available"
    UNAVAILABLE = "Unavailable"
    DEPRECATED = "Deprecated"
    NOT_DEPRECATED = "NotDeprecated"
    SUSPENDED = "Suspended"
    RESUMED = "Resumed"
    UNINSTALLED = "Uninstalled"


UNINSTALLED = Happening("Uninstall", EventReason.UNINSTALLED, "Nothing of it is left to be removed")
Rule = Callable[
    [ClusterExtensionStatus, ClusterExtensionStatus, BundleIdentity | None], Sequence[Happening]
]
FAULTS = frozenset({Reason.RETRYING.value, Reason.PROGRESS_DEADLINE_EXCEEDED.value})


def transitions(
    before: ClusterExtensionStatus,
    after: ClusterExtensionStatus,
    latest: BundleIdentity | None = None,
) -> tuple[Happening, ...]:
    """The changes; `latest` is the bundle of the newest revision. None for equal statuses."""
    return tuple(happening for rule in RULES for happening in rule(before, after, latest))


def _begun(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, latest: BundleIdentity | None
) -> Sequence[Happening]:
    """A new revision is on the way; one that is already installed is reported as installed."""
    known = {revision.name for revision in before.active_revisions}
    new = [r.name for r in after.active_revisions if r.name not in known]
    if not new or latest is None or _is_unknown(before):
        return ()
    installed = before.install.bundle if before.install else None
    chosen = BundleMetadata(name=latest.name, version=latest.version, release=latest.release)
    if installed == chosen:
        reason: str = EventReason.RECONFIGURING
    elif after.install is not None and after.install.bundle == chosen:
        return ()
    else:
        words = EventReason.INSTALLING, EventReason.UPDATING, EventReason.ROLLING_BACK
        reason = _direction(installed, chosen, words)
    note = f"Resolved to bundle {latest.name} with version {latest.version}: revision {new[-1]}"
    return [Happening("Resolve", reason, note)]


def _installed(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, _: BundleIdentity | None
) -> Sequence[Happening]:
    """Another bundle is installed, or none any more."""
    old = before.install.bundle if before.install else None
    new = after.install.bundle if after.install else None
    if new == old or _is_unknown(before) or _is_unknown(after):
        return ()
    if new is None:
        note = "No bundle is installed any more"
        return [Happening("Install", EventReason.NOT_INSTALLED, note, warning=True)]
    words = EventReason.INSTALLED, EventReason.UPDATED, EventReason.ROLLED_BACK
    past = f"; it was {old.name}" if old else ""
    return [Happening("Install", _direction(old, new, words), f"Installed {new.name}{past}")]


def _direction(old: BundleMetadata | None, new: BundleMetadata, words: tuple[str, str, str]) -> str:
    """First, forward or back."""
    first, forward, back = words
    if old is None:
        return first
    return back if is_lower(new, old) else forward


def _is_unknown(status: ClusterExtensionStatus) -> bool:
    """Whether the revisions could not be read, so that the status names none."""
    found = _find(status, ConditionType.INSTALLED)
    return found is not None and found.status is ConditionStatus.UNKNOWN


def _progressing(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, _: BundleIdentity | None
) -> Sequence[Happening]:
    old, new = (_find(status, ConditionType.PROGRESSING) for status in (before, after))
    if new is None:
        return ()
    if new.status is ConditionStatus.FALSE or new.reason in FAULTS:
        same = old is not None and _all(old) == _all(new)
        return () if same else [Happening("Reconcile", new.reason, new.message, warning=True)]
    over = old is not None and (old.status is ConditionStatus.FALSE or old.reason in FAULTS)
    if over and new.reason == Reason.SUCCEEDED:
        return [Happening("Reconcile", EventReason.SUCCEEDED, new.message)]
    return ()


def _suspended(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, _: BundleIdentity | None
) -> Sequence[Happening]:
    """Nothing is written any more, or again."""
    found = (_find(status, ConditionType.PROGRESSING) for status in (before, after))
    was, is_now = (c is not None and c.reason == Reason.SUSPENDED for c in found)
    if was == is_now:
        return ()
    if was:
        return [Happening("Suspend", EventReason.RESUMED, "It is reconciled again")]
    new = _find(after, ConditionType.PROGRESSING)
    note = new.message.partition("\n")[0] if new else ""
    return [Happening("Suspend", EventReason.SUSPENDED, f"Nothing of it is written: {note}")]


def _available(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, _: BundleIdentity | None
) -> Sequence[Happening]:
    """What is installed begins or ceases to work; one that begins is not reported as down first."""
    old, new = (_find(status, ConditionType.AVAILABLE) for status in (before, after))
    if new is None or (old is not None and old.status is new.status):
        return ()
    if new.status is ConditionStatus.TRUE:
        return [Happening("Probe", EventReason.AVAILABLE, new.message)]
    if new.status is ConditionStatus.FALSE and old and old.status is ConditionStatus.TRUE:
        return [Happening("Probe", EventReason.UNAVAILABLE, new.message, warning=True)]
    return ()


def _deprecated(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, _: BundleIdentity | None
) -> Sequence[Happening]:
    """The sum of the four conditions; its message has those of the others."""
    old, new = (_find(status, ConditionType.DEPRECATED) for status in (before, after))
    if new is None or (old is not None and _all(old) == _all(new)):
        return ()
    if new.status is ConditionStatus.TRUE:
        return [Happening("Resolve", EventReason.DEPRECATED, new.message, warning=True)]
    if old is not None and old.status is ConditionStatus.TRUE:
        note = new.message or "nothing that is used is deprecated any more"
        return [Happening("Resolve", EventReason.NOT_DEPRECATED, note)]
    return ()


RULES: tuple[Rule, ...] = (_begun, _installed, _suspended, _progressing, _available, _deprecated)


def _find(status: ClusterExtensionStatus, kind: ConditionType) -> Condition | None:
    return next((c for c in status.conditions if c.type == kind), None)


def _all(condition: Condition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message
