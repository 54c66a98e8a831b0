"""The sections of a status about pools of nodes."""

from collections.abc import Iterator, Sequence

from cluster_version.client_output.columns import aligned
from cluster_version.client_output.node_pools import (
    MASTER,
    ON_THE_WAY,
    Assessment,
    Node,
    Phase,
    Pool,
)
from cluster_version.client_output.update_health import Insight, Level

SHOWN = 10
"""How many nodes of a pool are shown unless all are asked for; broken ones always are."""
_DOCS = "https://docs.openshift.com/container-platform/latest/"
_NODE_DOCS = (
    f"{_DOCS}post_installation_configuration/machine-configuration-tasks.html"
    "#understanding-the-machine-config-operator"
)
_PAUSE_DOCS = (
    f"{_DOCS}support/troubleshooting/troubleshooting-operator-issues.html"
    "#troubleshooting-disabling-autoreboot-mco_troubleshooting-operator-issues"
)


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
        descriptions = " | ".join(each.description for each in node.troubles)
        yield Insight(
            min(since, default=None),
            Level.WARNING,
            "Update Speed",
            summary,
            node.reason if node.degraded else descriptions,
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
    moving = sum(each.phase in ON_THE_WAY and not each.degraded for each in pool.nodes)
    counts = [
        f"{sum(each.available for each in pool.nodes)} Available",
        f"{moving} Progressing",
        f"{pool.count(Phase.DRAINING)} Draining",
    ]
    failed = sum(each.degraded for each in pool.nodes)
    paused = pool.count(Phase.PAUSED)
    counts += [f"{paused} Excluded"] if paused else []
    counts += [f"{failed} Degraded"] if failed else []
    share = f"{updated / total * 100:.0f}% ({updated}/{total})"
    return f"{pool.name}\t{pool.assessment}\t{share}\t{', '.join(counts)}\n"


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
