"""The status of a pool: how many of its nodes are how far, and the conditions made of it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from api import wire
from api.objects import KubeObject, metadata
from cluster_version.nodes.pools import PoolError, Target, is_paused
from cluster_version.nodes.states import NodeState

Verdict = tuple[str, bool, str, str]
"""Type, whether it holds, reason, message."""


def pool_status(
    pool: KubeObject,
    nodes: Sequence[NodeState],
    target: Target,
    now: datetime,
    problem: PoolError | None = None,
) -> dict[str, Any]:
    """The status; `problem` is why the pool's nodes are not known or counted."""
    old = pool.get("status") or {}
    failed = [node for node in nodes if node.failure]
    updated = [node for node in nodes if _has(node, target)]
    is_updated = problem is None and len(updated) == len(nodes)
    spec = (pool.get("spec") or {}).get("configuration") or {}
    reached = spec | {"name": target.name} if is_updated else old.get("configuration")
    verdicts = (
        _updated(target, is_updated=is_updated),
        _updating(pool, target, is_updated=is_updated),
        *_degraded(failed, problem),
    )
    return {
        "observedGeneration": metadata(pool).get("generation", 0),
        **({"configuration": reached} if reached else {}),
        "machineCount": len(nodes),
        "updatedMachineCount": len(updated),
        "readyMachineCount": sum(node.is_available for node in updated),
        "unavailableMachineCount": sum(not node.is_available for node in nodes),
        "degradedMachineCount": len(failed),
        "conditions": _conditions(old.get("conditions") or (), verdicts, now),
    }


def _has(node: NodeState, target: Target) -> bool:
    return not node.is_updating and node.current == target.name


def _updated(target: Target, *, is_updated: bool) -> Verdict:
    said = f"All nodes are updated with {target.name}" if is_updated else ""
    return ("Updated", is_updated, "", said)


def _updating(pool: KubeObject, target: Target, *, is_updated: bool) -> Verdict:
    if is_updated:
        return ("Updating", False, "", "")
    if is_paused(pool):
        return ("Updating", False, "", f"Pool is paused; will not update to {target.name}")
    return ("Updating", True, "", f"All nodes are updating to {target.name}")


def _degraded(failed: Sequence[NodeState], problem: PoolError | None) -> Iterable[Verdict]:
    """Of what is wrong with the pool, with its nodes, and with either."""
    broken = problem is not None
    yield ("RenderDegraded", broken, problem.reason if problem else "", str(problem or ""))
    noun = "node is" if len(failed) == 1 else "nodes are"
    message = ", ".join(f'Node {node.name} is reporting: "{node.failure}"' for node in failed)
    reason = f"{len(failed)} {noun} reporting degraded status on sync" if failed else ""
    yield ("NodeDegraded", bool(failed), reason, message)
    yield ("Degraded", bool(failed) or broken, "", "")


def _conditions(
    old: Iterable[Mapping[str, Any]], verdicts: Iterable[Verdict], now: datetime
) -> list[dict[str, Any]]:
    """The conditions by type; the time of one whose status stays does too."""
    known = {condition["type"]: condition for condition in old}
    for kind, holds, reason, message in verdicts:
        before = known.get(kind) or {}
        status = "True" if holds else "False"
        since = before.get("lastTransitionTime") if before.get("status") == status else None
        known[kind] = {
            "type": kind,
            "status": status,
            "lastTransitionTime": since or wire.timestamp(now),
            "reason": reason,
            "message": message,
        }
    return [dict(condition) for condition in known.values()]
