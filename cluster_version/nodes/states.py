"""How far the update of a node is, and what is done next about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from api.objects import (
    KubeObject,
    annotations_of,
    is_deleting,
    is_true,
    labels_of,
    name_of,
)
from cluster_version.nodes.names import (
    BOOT_ID,
    CURRENT,
    DEGRADED,
    DESIRED,
    REASON,
    STATE,
    ZONE_LABEL,
)


class JobState(Enum):
    """What has become of the Job that updates a node."""

    ABSENT = auto()
    RUNNING = auto()
    SUCCEEDED = auto()
    FAILED = auto()


class Step(Enum):
    """What is done next about a node, in the order in which it is done."""

    NONE = auto()
    """It has its configuration."""
    AWAIT_TURN = auto()
    """It is to be updated, and was not begun with."""
    CORDON = auto()
    """No further workloads, and from now on it is brought to the target."""
    CORDON_AGAIN = auto()
    """Somebody has it take workloads while it is updated."""
    DRAIN = auto()
    """Workloads leave; then the Job is made."""
    AWAIT_JOB = auto()
    AWAIT_REBOOT = auto()
    UNCORDON = auto()
    """Its configuration is the one that it was brought to."""
    GIVE_BACK = auto()
    """Nothing was run on it, and nothing is to be: it is taken into use as it is."""
    REPORT_FAILURE = auto()
    AWAIT_HELP = auto()
    """The Job failed, and the target is still the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """What is read of a node.

    current, desired  configurations by name, empty where none is known
    boot_id           of its last start; `boot_id_before` of the last one before its update ran
    failure           what went wrong with its update, empty while nothing did
    """

    name: str
    zone: str = ""
    current: str = ""
    desired: str = ""
    boot_id: str = ""
    boot_id_before: str = ""
    failure: str = ""
    is_ready: bool = True
    is_cordoned: bool = False
    is_leaving: bool = False

    @property
    def is_updating(self) -> bool:
        """Whether an update was begun and is not at its end."""
        return bool(self.desired) and self.desired != self.current

    @property
    def is_available(self) -> bool:
        """Whether workloads can be scheduled to it, and will be able to."""
        return (
            self.is_ready and not self.is_cordoned and not self.is_leaving and not self.is_updating
        )


def state_of(node: KubeObject) -> NodeState:
    """What is read of a node."""
    noted: Mapping[str, str] = annotations_of(node)
    failed = noted.get(STATE) == DEGRADED
    return NodeState(
        name=name_of(node),
        zone=labels_of(node).get(ZONE_LABEL, ""),
        current=noted.get(CURRENT, ""),
        desired=noted.get(DESIRED, ""),
        boot_id=((node.get("status") or {}).get("nodeInfo") or {}).get("bootID", ""),
        boot_id_before=noted.get(BOOT_ID, ""),
        failure=(noted.get(REASON) or "unknown") if failed else "",
        is_ready=is_true(node, "Ready") and not is_true(node, "NetworkUnavailable"),
        is_cordoned=bool((node.get("spec") or {}).get("unschedulable")),
        is_leaving=is_deleting(node),
    )


def next_step(node: NodeState, job: JobState, target: str) -> Step:
    """What is done next about a node of a pool with this target.

    `job` is the one that brings the node to `node.desired`. Until it runs, and where it failed,
    the node follows a target that has changed; what has run is brought to its end.
    """
    if not node.is_updating:
        return Step.NONE if node.current == target else Step.AWAIT_TURN
    if not node.is_cordoned:
        return Step.CORDON_AGAIN
    match job:
        case JobState.RUNNING:
            return Step.AWAIT_JOB
        case JobState.SUCCEEDED:
            is_restarted = node.boot_id != node.boot_id_before and node.is_ready
            return Step.UNCORDON if is_restarted else Step.AWAIT_REBOOT
        case JobState.ABSENT:
            return _before_job(node, target)
        case JobState.FAILED:
            return _after_failure(node, target)


def step_without_pool(node: NodeState, job: JobState) -> Step:
    """What is done next about a node that is in no pool any more.

    What has run is brought to its end, what has not is not begun.
    """
    if not node.is_updating:
        return Step.NONE
    if job is not JobState.ABSENT:
        return next_step(node, job, node.desired)
    if not node.boot_id_before:
        return Step.GIVE_BACK
    return Step.AWAIT_HELP if node.failure else Step.REPORT_FAILURE


def _before_job(node: NodeState, target: str) -> Step:
    has_run = bool(node.boot_id_before)
    if not has_run and target == node.current:
        return Step.GIVE_BACK
    return Step.CORDON if target != node.desired else Step.DRAIN


def _after_failure(node: NodeState, target: str) -> Step:
    if target != node.desired:
        return Step.CORDON
    return Step.AWAIT_HELP if node.failure else Step.REPORT_FAILURE
