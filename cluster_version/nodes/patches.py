"""What is written to a node at each step of its update, as JSON merge patches."""

from collections.abc import Mapping
from typing import Any

from cluster_version.nodes.names import (
    BOOT_ID,
    CURRENT,
    DEGRADED,
    DESIRED,
    DONE,
    REASON,
    STATE,
    WORKING,
)
from cluster_version.nodes.states import NodeState

Patch = Mapping[str, Any]


def cordon(node: NodeState, target: str) -> Patch:
    """No further workloads, and the node is brought to the target.

    Which configuration a node has on which something was run is not known until it is run through.
    """
    noted = {DESIRED: target, STATE: WORKING, REASON: None, BOOT_ID: None}
    if node.boot_id_before:
        noted[CURRENT] = None
    return _annotated(noted) | {"spec": {"unschedulable": True}}


CORDON_AGAIN: Patch = {"spec": {"unschedulable": True}}


def begin_job(node: NodeState) -> Patch:
    """Written before the Job is made: another boot ID shows a restart of the node."""
    return _annotated({BOOT_ID: node.boot_id, STATE: WORKING, REASON: None})


def hindrance(reason: str | None) -> Patch:
    """Why the drain goes on, or that nothing hinders it."""
    return _annotated({REASON: reason})


def failure(reason: str) -> Patch:
    """The Job failed."""
    return _annotated({STATE: DEGRADED, REASON: reason})


def uncordon(node: NodeState) -> Patch:
    """The node has the configuration that it was brought to, and takes workloads."""
    return _in_use(node.desired)


def give_back(node: NodeState) -> Patch:
    """The node is as it was."""
    return _in_use(node.current)


def _in_use(configuration: str) -> Patch:
    has = configuration or None
    noted = {CURRENT: has, DESIRED: has, STATE: DONE, REASON: None, BOOT_ID: None}
    return _annotated(noted) | {"spec": {"unschedulable": None}}


def _annotated(noted: Mapping[str, str | None]) -> dict[str, Any]:
    return {"metadata": {"annotations": dict(noted)}}
