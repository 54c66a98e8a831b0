"""The way of a release to being the one that is applied: the condition ReleaseAccepted.

A target is retrieved and verified, loaded, compared with the version that was asked for, and
checked against the state of the cluster. Whatever fails leaves the release that is applied as it
is; only this condition and Events report it. Source of the rules: upstream's notes, section 5.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from api.conditions import Condition, ConditionStatus
from api.objects import KubeObject
from cluster_version.decisions.failure import verdict
from cluster_version.decisions.preconditions import failures
from cluster_version.decisions.target import Target
from cluster_version.payload.contents import Payload
from olm_content.formats.go_text import quote
from olm_runtime.images.reference import digest_of

RELEASE_ACCEPTED = "ReleaseAccepted"


class Step(StrEnum):
    """What is done with a target, or failed; the reason of the condition."""

    RETRIEVE = "RetrievePayload"
    LOAD = "LoadPayload"
    VERIFY_VERSION = "VerifyPayloadVersion"
    PRECONDITIONS = "PreconditionChecks"
    LOADED = "PayloadLoaded"


@dataclass(frozen=True, slots=True)
class Event:
    """What is reported of a ClusterVersion once."""

    reason: str
    message: str
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Retrieved:
    """How the content of a release image was got.

    verified  whether a good signature was found
    local     whether it is the operator's own, about which nothing is asked
    risk      why it could not be verified, where that was passed over
    """

    verified: bool = False
    local: bool = False
    risk: str = ""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How far a target is.

    status  True for a release that is applied, Unknown on the way to it, False where it failed
    risks   what speaks against the release and was passed over
    """

    target: Target
    step: Step
    status: ConditionStatus
    message: str
    retrieved: Retrieved = Retrieved()
    risks: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether it is the release that is applied."""
        return self.step is Step.LOADED

    @property
    def condition(self) -> Condition:
        """The condition, without its time."""
        return Condition(
            type=RELEASE_ACCEPTED,
            status=self.status,
            reason=self.step.value,
            message=self.message,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """A step forward, and its Events."""

    acceptance: Acceptance
    events: tuple[Event, ...]


def _named(target: Target) -> str:
    return f"version={quote(target.version)} image={quote(target.image)}"


def begun(target: Target) -> Progress:
    """The image of a target is being retrieved."""
    message = f"Retrieving and verifying payload {_named(target)}"
    acceptance = Acceptance(target, Step.RETRIEVE, ConditionStatus.UNKNOWN, message)
    return Progress(acceptance, (Event(Step.RETRIEVE, message),))


def not_retrieved(target: Target, problem: str, reasons: Sequence[str] = ()) -> Progress:
    """The image could not be had, or not be verified; `reasons` are the errors behind that."""
    text = f"Retrieving payload failed {_named(target)} failure="
    unfolded = " // ".join((problem, *reasons))
    event = Event("RetrievePayloadFailed", f"{text}{unfolded}", warns=True)
    failed = Acceptance(target, Step.RETRIEVE, ConditionStatus.FALSE, f"{text}{problem}")
    return Progress(failed, (event,))


def loading(target: Target, retrieved: Retrieved) -> tuple[Event, ...]:
    """The Events once the image is there; of one that could not be verified that it is used."""
    event = Event(Step.LOAD, f"Loading payload {_named(target)}")
    if not retrieved.risk:
        return (event,)
    return Event(Step.RETRIEVE, retrieved.risk, warns=True), event


def not_loaded(target: Target, retrieved: Retrieved, problem: str) -> Progress:
    """What the image holds is no release."""
    return _failed(
        target, retrieved, Step.LOAD, f"Loading payload failed {_named(target)}", problem
    )


def judged(
    target: Target, retrieved: Retrieved, payload: Payload, cluster_version: KubeObject | None
) -> Progress:
    """Whether a release that was loaded is accepted."""
    version = payload.release.version
    if target.version not in ("", version):
        problem = (
            f"release image version {version} does not match the expected upstream version "
            f"{target.version}"
        )
        text = f"Verifying payload failed {_named(target)}"
        return _failed(target, retrieved, Step.VERIFY_VERSION, text, problem)
    known = replace(target, version=version)
    if retrieved.local:
        return _accepted(known, retrieved, payload.architecture)
    found = verdict(failures(cluster_version, version), force=target.force)
    if found.blocks:
        message = f"Preconditions failed for payload loaded {_named(known)}: {found.text}"
        refused = Acceptance(known, Step.PRECONDITIONS, ConditionStatus.FALSE, message, retrieved)
        return Progress(refused, (Event("PreconditionBlock", message, warns=True),))
    return _accepted(known, retrieved, payload.architecture, found.text)


def _failed(target: Target, retrieved: Retrieved, step: Step, text: str, problem: str) -> Progress:
    message = f"{text} failure={problem}"
    failed = Acceptance(target, step, ConditionStatus.FALSE, message, retrieved)
    return Progress(failed, (Event(f"{step}Failed", message, warns=True),))


def _accepted(
    target: Target, retrieved: Retrieved, architecture: str, warning: str = ""
) -> Progress:
    message = f"Payload loaded {_named(target)} architecture={quote(architecture)}"
    risks = "\n".join(filter(None, (retrieved.risk, warning)))
    accepted = Acceptance(target, Step.LOADED, ConditionStatus.TRUE, message, retrieved, risks)
    loaded = Event(Step.LOADED, message)
    if retrieved.local:
        return Progress(accepted, (loaded,))
    text = f"for payload loaded {_named(target)}"
    passed = Event("PreconditionsPassed", f"preconditions passed {text}")
    if not warning:
        return Progress(accepted, (passed, loaded))
    warned = Event("PreconditionWarn", f"precondition warning {text}: {warning}", warns=True)
    return Progress(accepted, (warned, passed, loaded))


def taken_back(acceptance: Acceptance, applied: Acceptance) -> Acceptance:
    """What is reported once the release that is applied is the target again.

    It is reported anew where another release was tried meanwhile.
    """
    tried, running = (digest_of(each.target.image) for each in (acceptance, applied))
    if acceptance.is_accepted and tried == running:  # perhaps of another mirror
        return acceptance
    return replace(applied, message=f"Payload loaded {_named(applied.target)}")
