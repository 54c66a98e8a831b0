"""How the Deployments of a ClusterServiceVersion stand, compared with what they are to be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from api.objects import (
    KubeObject,
    condition,
    is_deleting,
    is_true,
    labels_of,
    metadata,
    name_of,
)
from olm_classic.names import LABEL_DEPLOYMENT_HASH


class State(Enum):
    """WAITING may pass by itself, DRIFTED is to be applied again, EXPIRED took too long."""

    HEALTHY = auto()
    WAITING = auto()
    MISSING = auto()
    DRIFTED = auto()
    EXPIRED = auto()


@dataclass(frozen=True, slots=True)
class Installation:
    """The first of the Deployments that is not as it should be, in the words of the status.

    `unavailable` is its name where it is as it should be, but its pods do not run.
    """

    state: State
    text: str = ""
    unavailable: str = ""

    @property
    def is_healthy(self) -> bool:
        """Whether all of them are."""
        return self.state is State.HEALTHY

    def because(self, reason: str) -> "Installation":
        """The same with why the pods do not run, if that is known."""
        return replace(self, text=f"{self.text}: {reason}") if reason else self


HEALTHY = Installation(State.HEALTHY)


def installation(
    expected: Iterable[KubeObject],
    live: Mapping[str, KubeObject],
    annotations: Mapping[str, str],
) -> Installation:
    """`expected` as they would be applied now, `live` by name.

    `annotations` are those of the ClusterServiceVersion, which every pod template has.
    """
    for deployment in expected:
        found = _found(deployment, live.get(name_of(deployment)), annotations)
        if not found.is_healthy:
            return found
    return HEALTHY


def is_disrupted(pod: KubeObject) -> bool:
    """Whether a pod is about to go, or does not run yet: what it serves may be away for a while."""
    status = pod.get("status") or {}
    return is_deleting(pod) or is_true(pod, "DisruptionTarget") or status.get("phase") == "Pending"


def _found(
    deployment: KubeObject, live: KubeObject | None, annotations: Mapping[str, str]
) -> Installation:
    """What it is comes before how it does: what is wanted by now may be the cure."""
    name = name_of(deployment)
    if live is None:
        return Installation(State.MISSING, f"missing deployment with name={name}")
    content = _content(deployment, live, annotations)
    return content if not content.is_healthy else _rollout(name, live)


def _rollout(name: str, live: KubeObject) -> Installation:
    status, spec = live.get("status") or {}, live.get("spec") or {}
    if metadata(live).get("generation", 0) > status.get("observedGeneration", 0):
        return _waiting(name, f'waiting for spec update of deployment "{name}" to be observed...')
    progressing = condition(live, "Progressing") or {}
    if progressing.get("reason") == "ProgressDeadlineExceeded":
        problem = f'deployment "{name}" exceeded its progress deadline'
        text = f"deployment {name} not ready before timeout: {problem}"
        return Installation(State.EXPIRED, text, name)
    outdated = status.get("replicas", 0) - status.get("updatedReplicas", 0)
    if spec.get("replicas") != 0 and outdated > 0:
        text = f'deployment "{name}" waiting for {outdated} outdated replica(s) to be terminated'
        return _waiting(name, text)
    available = condition(live, "Available")
    if available is None or available["status"] != "True":
        why = available.get("message", "") if available else 'missing condition "Available"'
        found = _waiting(name, f'deployment "{name}" not available: {why}')
        return replace(found, unavailable=name)
    return HEALTHY


def _waiting(name: str, why: str) -> Installation:
    return Installation(State.WAITING, f"waiting for deployment {name} to become ready: {why}")


def _content(
    deployment: KubeObject, live: KubeObject, annotations: Mapping[str, str]
) -> Installation:
    """Whether somebody else has changed it, or the operator asks for something else by now."""
    carried = live["spec"]["template"].get("metadata") or {}
    problem = _annotation_problem(carried.get("annotations"), annotations)
    if problem:
        return Installation(State.DRIFTED, problem)
    old = labels_of(live).get(LABEL_DEPLOYMENT_HASH)
    new = labels_of(deployment)[LABEL_DEPLOYMENT_HASH]
    if old is None:
        text = f"deployment {name_of(live)} doesn't have a spec hash, update it"
        return Installation(State.DRIFTED, text)
    if old != new:
        return Installation(State.DRIFTED, f"deployment changed old hash={old}, new hash={new}")
    return HEALTHY


def _annotation_problem(carried: Mapping[str, str] | None, wanted: Mapping[str, str]) -> str:
    if wanted and carried is None:
        return "no annotations found on deployment"
    for key, value in sorted(wanted.items()):
        if key not in (carried or {}):
            return f"annotations on deployment does not contain expected key: {key}"
        if (carried or {})[key] != value:
            found = f"found {key}:{(carried or {})[key]}"
            return f"unexpected annotation on deployment. Expected {key}:{value}, {found}"
    return ""
