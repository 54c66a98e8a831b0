"""The status of a ClusterVersion, but for what is known of updates.

Source of the rules: upstream's notes, sections 1.2, 11.4 and 12.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from api.conditions import ConditionStatus
from cluster_version.decisions import validation
from cluster_version.decisions.acceptance import RELEASE_ACCEPTED, Acceptance
from cluster_version.decisions.validation import FieldError
from cluster_version.payload.capabilities import ClusterCapabilities
from cluster_version.payload.release import Release
from cluster_version.status import history
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.rounds import Rounds, condition_states
from olm_runtime.errors import OLMError

Json = dict[str, Any]

AVAILABLE, FAILING, PROGRESSING = "Available", "Failing", "Progressing"
RETRIEVED = "RetrievedUpdates"
IMPLICIT, FORMERLY_IMPLICIT = "ImplicitlyEnabledCapabilities", "ImplicitlyEnabled"
UNKNOWN_VERSION = "<unknown>"
"""What a release is called of which neither version nor image is known."""


_NONE = Release("")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerState:
    """What is known of the release that is applied.

    release     as its own metadata say it
    own         that of the operator
    known       those that the update service listed, the current one first
    completed   how many rounds in a row ended without error
    begun       since when a ClusterOperator is waited for, by name
    faults      what is wrong with the ClusterVersion
    """

    release: Release
    hash: str = ""
    own: Release = _NONE
    known: Sequence[Release] = ()
    generation: int = 0
    verified: bool = False
    capabilities: ClusterCapabilities
    acceptance: Acceptance | None = None
    completed: int = 0
    done: int = 0
    total: int = 0
    reconciling: bool = False
    errors: Sequence[OLMError] = ()
    begun: Mapping[str, datetime] = field(default_factory=dict)
    faults: Sequence[FieldError] = ()


def status_after(status: Mapping[str, Any], state: WorkerState, now: datetime) -> Json:
    """A status as it follows on another; what that says of updates stays."""
    release = with_metadata(state.release, state.own, state.known)
    before = history.read(status.get("history") or ())
    entries = history.recorded(before, _reached(release, state), now)
    after = {
        "availableUpdates": None,
        **status,
        "observedGeneration": state.generation,
        "versionHash": state.hash or status.get("versionHash") or "",
        "history": history.written(entries),
        "capabilities": {
            "enabledCapabilities": sorted(state.capabilities.enabled),
            "knownCapabilities": sorted(state.capabilities.known),
        },
    }
    desired = release_json(release) if release.image else status.get("desired")
    after["desired"] = desired or {"image": "", "version": ""}
    conditions = ConditionList.of(status.get("conditions") or (), now)
    _set_conditions(conditions, state, is_installed=bool(entries))
    after["conditions"] = conditions.conditions
    return after


def with_metadata(release: Release, own: Release, known: Iterable[Release]) -> Release:
    """A release with what it does not say itself.

    The operator's own release says it of its image, the update service of a digest.
    """
    if release.image == own.image:
        release = _completed(release, own)
    of_digest = (other for other in known if _is_same(release.image, other.image))
    return _completed(release, next(of_digest, release))


def _completed(release: Release, other: Release) -> Release:
    return replace(
        release,
        version=release.version or other.version,
        url=release.url or other.url,
        channels=release.channels or other.channels,
    )


def _is_same(image: str, other: str) -> bool:
    digest = image.partition("@")[2]
    return image == other or bool(digest and digest == other.partition("@")[2])


def release_json(release: Release) -> Json:
    """A release as a status has it."""
    found = {"version": release.version, "image": release.image}
    more = {"url": release.url, "channels": list(release.channels)}
    return found | {key: value for key, value in more.items() if value}


def _reached(release: Release, state: WorkerState) -> history.Reached:
    acceptance = state.acceptance
    is_of_it = acceptance is not None and acceptance.target.image == release.image
    return history.Reached(
        release.image,
        release.version,
        is_completed=state.completed > 0,
        verified=state.verified,
        local=acceptance is not None and acceptance.retrieved.local,
        accepted_risks=acceptance.risks if acceptance is not None and is_of_it else "",
    )


def _set_conditions(conditions: ConditionList, state: WorkerState, *, is_installed: bool) -> None:
    name = state.release.version or state.release.image or UNKNOWN_VERSION
    reason = ""
    if state.faults:
        reason = validation.REASON
        message = validation.message_of(state.faults)
        conditions.set(validation.INVALID, ConditionStatus.TRUE, reason, message)
    else:
        conditions.remove(validation.INVALID)
    _set_implicit(conditions, sorted(state.capabilities.implicit))
    if state.acceptance is not None:
        accepted = state.acceptance
        conditions.set(RELEASE_ACCEPTED, accepted.status, accepted.step.value, accepted.message)
    if state.completed:
        conditions.set(AVAILABLE, ConditionStatus.TRUE, message=f"Done applying {name}")
    elif not conditions.has(AVAILABLE):
        conditions.set(AVAILABLE, ConditionStatus.FALSE)
    rounds = Rounds(
        version=name,
        errors=state.errors,
        done=state.done,
        total=state.total,
        reconciling=state.reconciling,
        begun=state.begun,
        is_invalid=bool(state.faults),
        is_installed=is_installed,
    )
    failing, progressing = condition_states(rounds, conditions.now, reason)
    conditions.set(FAILING, *failing)
    conditions.set(PROGRESSING, *progressing)
    if not conditions.has(RETRIEVED):
        conditions.set(RETRIEVED, ConditionStatus.FALSE)


def _set_implicit(conditions: ConditionList, implicit: Sequence[str]) -> None:
    conditions.remove(FORMERLY_IMPLICIT)
    if not implicit:
        text = "Capabilities match configured spec"
        conditions.set(IMPLICIT, ConditionStatus.FALSE, "AsExpected", text)
        return
    text = f"The following capabilities could not be disabled: {', '.join(implicit)}"
    conditions.set(IMPLICIT, ConditionStatus.TRUE, "CapabilitiesImplicitlyEnabled", text)
