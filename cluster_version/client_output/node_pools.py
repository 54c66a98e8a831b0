"""Pools of nodes, and how far each node is in an update."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from api import wire
from api.metadata import LabelSelector
from cluster_version.client_output.node_state import (
    CURRENT,
    DESIRED,
    PREFIX,
    REASON,
    STATE,
    Trouble,
    annotations,
    degraded,
    draining,
    troubles,
)
from cluster_version.client_output.objects import Json, part
from olm_content.selectors import selects

MASTER, WORKER = "master", "worker"
_VERSION = f"{PREFIX}release-image-version"
_SHORT_NAME = 8


class Phase(IntEnum):
    """Where a node is in its update, in the order in which nodes are shown."""

    DRAINING = 0
    UPDATING = 1
    REBOOTING = 2
    PAUSED = 3
    PENDING = 4
    UPDATED = 5


class Assessment(IntEnum):
    """How a node does, in the order in which nodes are shown."""

    DEGRADED = 0
    UNAVAILABLE = 1
    PROGRESSING = 2
    EXCLUDED = 3
    OUTDATED = 4
    COMPLETED = 5


_USUAL = {
    Phase.PAUSED: (Assessment.EXCLUDED, "-"),
    Phase.PENDING: (Assessment.OUTDATED, "?"),
    Phase.DRAINING: (Assessment.PROGRESSING, "+10m"),
    Phase.UPDATING: (Assessment.PROGRESSING, "+5m"),
    Phase.REBOOTING: (Assessment.PROGRESSING, "+5m"),
    Phase.UPDATED: (Assessment.COMPLETED, "-"),
}
_STATES = {"Rebooting": Phase.REBOOTING, "Done": Phase.UPDATED}
ON_THE_WAY = (Phase.DRAINING, Phase.UPDATING, Phase.REBOOTING)
"""Where an update has begun and not ended."""


@dataclass(frozen=True)
class Node:
    """A node as it is shown."""

    name: str
    phase: Phase
    version: str
    updated: bool
    updating: bool
    degraded: bool
    reason: str
    """What its daemon says went wrong."""
    troubles: Sequence[Trouble]

    @property
    def available(self) -> bool:
        """Whether nothing keeps it from running pods."""
        return not self.troubles

    @property
    def broken(self) -> bool:
        """Whether something is wrong that its update does not explain."""
        return self.degraded or not (self.available or self.updating)

    @property
    def assessment(self) -> Assessment:
        """How it does."""
        if self.degraded:
            return Assessment.DEGRADED
        return Assessment.UNAVAILABLE if self.broken else _USUAL[self.phase][0]

    @property
    def estimate(self) -> str:
        """How long it will take yet."""
        unknown = "-" if self.updated else "?"
        return unknown if self.broken else _USUAL[self.phase][1]

    @property
    def message(self) -> str:
        """What is wrong with it."""
        if self.degraded:
            return self._ellipsized(self.reason)
        reasons = " | ".join(each.reason for each in self.troubles)
        return self._ellipsized(reasons) if self.broken else ""

    def _ellipsized(self, text: str) -> str:
        return text if len(self.name) < _SHORT_NAME else text.replace(self.name, "<node>")


@dataclass(frozen=True)
class Pool:
    """A pool with its nodes, in the order in which they are shown."""

    name: str
    paused: bool
    nodes: Sequence[Node]

    def count(self, *phases: Phase) -> int:
        """How many nodes are in one of the phases."""
        return sum(each.phase in phases for each in self.nodes)

    @property
    def complete(self) -> bool:
        """Whether all nodes are updated."""
        return self.count(Phase.UPDATED) == len(self.nodes)

    @property
    def assessment(self) -> str:
        """How the pool does."""
        if self.complete:
            return "Completed"
        if self.count(Phase.PENDING) == len(self.nodes):
            return "Pending"
        if any(each.degraded for each in self.nodes):
            return "Degraded"
        return "Excluded" if self.count(Phase.PAUSED) else "Progressing"


def pools_of(
    pools: Sequence[Json],
    nodes: Sequence[Json],
    configs: Sequence[Json],
    target: str | None,
    now: datetime,
    *,
    moving: bool,
) -> Sequence[Pool]:
    """Each pool with its nodes; `moving` is a cluster that gets the same version's other images."""
    versions = {each["metadata"]["name"]: annotations(each).get(_VERSION) or "" for each in configs}
    chosen: dict[str, list[Json]] = {}
    for node in nodes:
        chosen.setdefault(_pool_of(node, pools), []).append(node)
    found = []
    for pool in pools:
        name = pool["metadata"]["name"]
        read = [
            _node(each, pool, versions, target, now, moving=moving) for each in chosen.get(name, ())
        ]
        read.sort(key=lambda each: (each.assessment, each.phase, each.name))
        found.append(Pool(name, bool(part(pool, "spec").get("paused")), read))
    return found


def _pool_of(node: Json, pools: Sequence[Json]) -> str:
    """A node of the control plane is in no other pool, and one of a custom pool not in `worker`."""
    labels = part(node, "metadata", "labels")
    names = [
        each["metadata"]["name"]
        for each in pools
        if (selector := part(each, "spec", "nodeSelector"))
        and selects(wire.read(LabelSelector, selector), labels)
    ]
    order = {MASTER: 0, WORKER: 2}
    return min(names, key=lambda name: order.get(name, 1), default="")


def _node(
    node: Json,
    pool: Json,
    versions: Mapping[str, str],
    target: str | None,
    now: datetime,
    *,
    moving: bool,
) -> Node:
    noted = annotations(node)
    current, desired = (
        versions.get(noted.get(CURRENT) or ""),
        versions.get(noted.get(DESIRED) or ""),
    )
    same = noted.get(CURRENT) == noted.get(DESIRED)
    asked = noted.get(DESIRED) == part(pool, "spec", "configuration").get("name")
    updated = bool(current) and current == target
    updated = updated and (not moving or DESIRED not in noted or (same and asked))
    updating = not updated and bool(current and desired) and desired == target
    updating = updating and not same and asked
    return Node(
        name=node["metadata"]["name"],
        phase=_phase(node, pool, updated=updated, updating=updating),
        version=current or "",
        updated=updated,
        updating=updating,
        degraded=degraded(node),
        reason=noted.get(REASON) or "",
        troubles=troubles(node, now),
    )


def _phase(node: Json, pool: Json, *, updated: bool, updating: bool) -> Phase:
    if updating and draining(node):
        return Phase.DRAINING
    if updating:
        return _STATES.get(annotations(node).get(STATE) or "", Phase.UPDATING)
    if updated:
        return Phase.UPDATED
    return Phase.PAUSED if part(pool, "spec").get("paused") else Phase.PENDING
