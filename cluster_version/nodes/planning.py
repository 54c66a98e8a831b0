"""What is done next in a pool: with nodes that were begun, and which ones are begun with."""

from collections.abc import Mapping, Sequence

from cluster_version.nodes.states import JobState, NodeState, Step, next_step


def steps(
    nodes: Sequence[NodeState],
    jobs: Mapping[str, JobState],
    target: str,
    *,
    limit: int,
    may_begin: bool = True,
) -> dict[str, Step]:
    """What is done next about each node of a pool, by its name.

    jobs       by the name of the node, of those that have one
    limit      how many may be unavailable at once: with as many, no further one is begun
    may_begin  whether there may be a further one at all

    Only available nodes are begun with, in the order of their zones, then of their names: one that
    is unavailable has no part in it until it is available again.
    """
    found = {
        node.name: next_step(node, jobs.get(node.name, JobState.ABSENT), target) for node in nodes
    }
    waiting = [node for node in nodes if found[node.name] is Step.AWAIT_TURN and node.is_available]
    free = limit - sum(not node.is_available for node in nodes)
    if may_begin and free > 0:
        for node in sorted(waiting, key=lambda each: (each.zone, each.name))[:free]:
            found[node.name] = Step.CORDON
    return found
