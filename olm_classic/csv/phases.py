"""The phases of a ClusterServiceVersion, why it is in one, and how its status shows them.

Names and texts are a contract with clients, who wait for and alert upon them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from olm_runtime.event import Happening

MAX_CONDITIONS = 20
"""Changes of phase or reason that a status keeps."""

Status = Mapping[str, Any]
"""The status of a ClusterServiceVersion as JSON."""


class Phase(StrEnum):
    """Where an operator stands between its creation and its end; NONE before the first look."""

    NONE = ""
    PENDING = "Pending"
    INSTALL_READY = "InstallReady"
    INSTALLING = "Installing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    REPLACING = "Replacing"
    DELETING = "Deleting"


class Reason(StrEnum):
    """Why it is there."""

    REQUIREMENTS_UNKNOWN = "RequirementsUnknown"
    REQUIREMENTS_NOT_MET = "RequirementsNotMet"
    REQUIREMENTS_MET = "AllRequirementsMet"
    OWNER_CONFLICT = "OwnerConflict"
    NOT_UPGRADEABLE = "OperatorConditionNotUpgradeable"
    INVALID_STRATEGY = "InvalidInstallStrategy"
    INVALID_WEBHOOK = "InvalidWebhookDescription"
    INSTALL_SUCCEEDED = "InstallSucceeded"
    INSTALL_WAITING = "InstallWaiting"
    INSTALL_FAILED = "InstallComponentFailed"
    INSTALL_FAILED_FOR_GOOD = "InstallComponentFailedNoRetry"
    INSTALL_CHECK_FAILED = "InstallCheckFailed"
    COMPONENT_UNHEALTHY = "ComponentUnhealthy"
    NEEDS_REINSTALL = "NeedsReinstall"
    NEEDS_CERTIFICATES = "NeedsCertRotation"
    API_SERVICE_ISSUE = "APIServiceResourceIssue"
    API_SERVICE_NEEDS_REINSTALL = "APIServiceResourcesNeedReinstall"
    API_SERVICE_FAILED = "APIServiceInstallFailed"
    CLUSTER_CHANGED = "DetectedClusterChange"
    BEING_REPLACED = "BeingReplaced"
    REPLACED = "Replaced"
    NO_GROUP = "NoOperatorGroup"
    TOO_MANY_GROUPS = "TooManyOperatorGroups"
    UNSUPPORTED_GROUP = "UnsupportedOperatorGroup"
    NO_TARGETS = "NoTargetNamespaces"
    INVALID_MODES = "InvalidInstallModes"
    STATIC_APIS = "CannotModifyStaticOperatorGroupProvidedAPIs"
    API_CONFLICT = "InterOperatorGroupOwnerConflict"


@dataclass(frozen=True, slots=True)
class Change:
    """The phase that a ClusterServiceVersion enters, or why it stays where it is."""

    phase: Phase
    reason: Reason
    message: str

    @property
    def happening(self) -> Happening:
        """The Event that says so."""
        return Happening("Reconcile", self.reason, self.message, warning=self.phase is Phase.FAILED)


def phase_of(status: Status) -> Phase:
    """The phase of a status; NONE for one that nobody knows."""
    try:
        return Phase(status.get("phase") or "")
    except ValueError:
        return Phase.NONE


def has_given_up(status: Status) -> bool:
    """Whether its installation failed in a way that only other rights may change."""
    return (
        phase_of(status) is Phase.FAILED and status.get("reason") == Reason.INSTALL_FAILED_FOR_GOOD
    )


def changed(status: Status, change: Change, now: datetime) -> dict[str, Any]:
    """The status after a change; the same one if it says nothing new."""
    fields = {"phase": change.phase.value, "reason": change.reason.value, "message": change.message}
    if all(status.get(key, "") == value for key, value in fields.items()):
        return dict(status)
    time = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    entered = {} if status.get("phase") == change.phase.value else {"lastTransitionTime": time}
    after = {**status, **fields, "lastUpdateTime": time, **entered}
    history = list(status.get("conditions") or ())
    last = history[-1] if history else {}
    if (last.get("phase"), last.get("reason")) != (fields["phase"], fields["reason"]):
        times = {
            "lastUpdateTime": time,
            "lastTransitionTime": after.get("lastTransitionTime", time),
        }
        history.append({**fields, **times})
    after["conditions"] = history[-MAX_CONDITIONS:]
    return after
