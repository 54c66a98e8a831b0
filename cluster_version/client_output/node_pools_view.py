"""The sections of a status about pools of nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from cluster_version.client_output.columns import aligned
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
from cluster_version.client_output.update_health import Insight, Level

MASTER, WORKER = "master", "worker"
SHOWN = 10
"""How many nodes of a pool are shown unless all are asked for; broken ones always are."""
_VERSION = f"{PREFIX}release-image-version"
_SHORT_NAME = 8
_DOCS = "https://docs.openshift.com/container-platform/latest/"
_NODE_DOCS = (
    f"{_DOCS}post_installation_configuration/machine-configuration-tasks.html"
    "#understanding-the-machine-config-operator"
)
_PAUSE_DOCS = (
    f"{_DOCS}support/troubleshooting/troubleshooting-operator-issues.html"
    "#troubleshooting-disabling-autoreboot-mco_troubleshooting-operator-issues"
)


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
_ON_THE_WAY = (Phase.DRAINING, Phase.UPDATING, Phase.REBOOTING)


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
        told = " | ".join(each.reason for each in self.troubles)
        return self._ellipsized(told) if self.broken else ""

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
        if _selects(part(each, "spec", "nodeSelector"), labels)
    ]
    order = {MASTER: 0, WORKER: 2}
    return min(names, key=lambda name: order.get(name, 1), default="")


def _selects(selector: Json, labels: Mapping[str, str]) -> bool:
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or ()
    return (
        bool(wanted or expressions)
        and all(labels.get(key) == value for key, value in wanted.items())
        and all(_matches(each, labels) for each in expressions)
    )


def _matches(expression: Json, labels: Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


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


def pool_insights(pool: Pool) -> Iterator[Insight]:
    """What is wrong with the nodes of a pool, and with the pool."""
    for node in pool.nodes:
        yield from _node_insights(node)
    if pool.paused and pool.count(Phase.PAUSED):
        yield Insight(
            None,
            Level.WARNING,
            "Update Stalled",
            f"Outdated nodes in a paused pool '{pool.name}' will not be updated",
            "Pool is paused, which stops all changes to the nodes in the pool, including updates. "
            "The nodes will not be updated until the pool is unpaused by the administrator.",
            _PAUSE_DOCS,
            "machineconfigpools.machineconfiguration.openshift.io",
            pool.name,
        )


def _node_insights(node: Node) -> Iterator[Insight]:
    if not node.updating and any(not each.harmless for each in node.troubles):
        since = [each.since for each in node.troubles if each.since]
        summary = " | ".join(each.message for each in node.troubles)
        told = " | ".join(each.description for each in node.troubles)
        yield Insight(
            min(since, default=None),
            Level.WARNING,
            "Update Speed",
            summary,
            node.reason if node.degraded else told,
            _NODE_DOCS,
            "nodes",
            node.name,
        )
    if node.degraded:
        yield Insight(
            None,
            Level.ERROR,
            "Update Stalled",
            f"Node {node.name} is degraded",
            node.reason,
            _NODE_DOCS,
            "nodes",
            node.name,
        )


def pools_table(pools: Sequence[Pool]) -> str:
    """How far each pool is."""
    rows = ["\nWORKER POOL\tASSESSMENT\tCOMPLETION\tSTATUS\n", *map(_pool_row, pools)]
    return aligned("".join(rows))


def _pool_row(pool: Pool) -> str:
    total, updated = len(pool.nodes), pool.count(Phase.UPDATED)
    if not total:
        return f"{pool.name}\tEmpty\t\t0 Total\n"
    moving = sum(each.phase in _ON_THE_WAY and not each.degraded for each in pool.nodes)
    told = [
        f"{sum(each.available for each in pool.nodes)} Available",
        f"{moving} Progressing",
        f"{pool.count(Phase.DRAINING)} Draining",
    ]
    failed = sum(each.degraded for each in pool.nodes)
    paused = pool.count(Phase.PAUSED)
    told += [f"{paused} Excluded"] if paused else []
    told += [f"{failed} Degraded"] if failed else []
    share = f"{updated / total * 100:.0f}% ({updated}/{total})"
    return f"{pool.name}\t{pool.assessment}\t{share}\t{', '.join(told)}\n"


def nodes_table(pool: Pool, *, detailed: bool) -> str:
    """The nodes of a pool, the ones with problems first."""
    if not pool.nodes:
        return ""
    if pool.name == MASTER and pool.complete:
        version = pool.nodes[0].version
        return f"\nAll control plane nodes successfully updated to {version}\n"
    title = "Control Plane Nodes" if pool.name == MASTER else f"Worker Pool Nodes: {pool.name}"
    omitted = [] if detailed else [each for each in pool.nodes[SHOWN:] if not each.broken]
    rows = [f"\n{title}\nNAME\tASSESSMENT\tPHASE\tVERSION\tEST\tMESSAGE\n"]
    rows += [_node_row(each) for each in pool.nodes if each not in omitted]
    return aligned("".join(rows)) + (_omitted(omitted) if omitted else "")


def _node_row(node: Node) -> str:
    return (
        f"{node.name}\t{node.assessment.name.title()}\t{node.phase.name.title()}\t"
        f"{node.version or '?'}\t{node.estimate}\t{node.message}\n"
    )


def _omitted(nodes: Sequence[Node]) -> str:
    updated = sum(each.updated for each in nodes)
    counts = (
        f"{len(nodes)} Total",
        f"{updated} Completed",
        f"{sum(each.available for each in nodes)} Available",
        f"{sum(each.assessment is Assessment.PROGRESSING for each in nodes)} Progressing",
        f"{len(nodes) - updated} Outdated",
        f"{sum(each.phase is Phase.DRAINING for each in nodes)} Draining",
        f"{sum(each.phase is Phase.PAUSED for each in nodes)} Excluded",
        "and 0 Degraded nodes",
    )
    more = "Pass along --details=nodes to see all information."
    return f"...\nOmitted additional {', '.join(counts)}.\n{more}\n"
