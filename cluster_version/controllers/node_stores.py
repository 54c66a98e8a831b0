"""What the controllers of node updates know: pools, nodes and Jobs, and what is planned of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from api.objects import GVK, KubeObject, name_of
from api.openshift.machineconfiguration.v1 import machineconfigpool
from cluster_version.nodes.jobs import configuration_of, job_state, node_of
from cluster_version.nodes.names import NODE_JOB
from cluster_version.nodes.planning import steps
from cluster_version.nodes.pools import (
    PoolError,
    Target,
    is_paused,
    max_unavailable,
    members,
    target_of,
)
from cluster_version.nodes.states import JobState, NodeState, Step, state_of
from olm_runtime.controller.manager import Manager
from olm_runtime.watch.informer import Selection

POOL = GVK(machineconfigpool.GROUP, machineconfigpool.VERSION, "MachineConfigPool")
NODE = GVK("", "v1", "Node")
JOB = GVK("batch", "v1", "Job")
_INDEX = "node"


def without_what_nobody_reads(node: KubeObject) -> KubeObject:
    """A node as it is stored: it lists the images that it has, and more."""
    meta = {key: each for key, each in node["metadata"].items() if key != "managedFields"}
    status = node.get("status") or {}
    conditions = [
        {"type": each["type"], "status": each["status"]} for each in status.get("conditions") or ()
    ]
    info = {"bootID": (status.get("nodeInfo") or {}).get("bootID", "")}
    return {
        "apiVersion": NODE.api_version,
        "kind": NODE.kind,
        "metadata": meta,
        "spec": {"unschedulable": bool((node.get("spec") or {}).get("unschedulable"))},
        "status": {"conditions": conditions, "nodeInfo": info},
    }


POOLS = Selection(POOL)
NODES = Selection(NODE, keep=without_what_nobody_reads)


def jobs_in(namespace: str) -> Selection:
    """The Jobs that update nodes."""
    return Selection(JOB, namespace=namespace, labels=NODE_JOB)


@dataclass(frozen=True, slots=True)
class Plan:
    """A pool, its nodes by name, and what is done next about each.

    problem  why its nodes or its limit are not known: then nothing is done
    """

    target: Target
    nodes: Mapping[str, KubeObject] = field(default_factory=dict)
    states: Mapping[str, NodeState] = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)
    problem: PoolError | None = None


class NodeStores:
    """The stores. Nothing waits for pools to be served: until they are, there is nothing to do."""

    def __init__(self, manager: Manager, namespace: str) -> None:
        self.pools = manager.selected(POOLS)
        self.nodes = manager.selected(NODES)
        self.jobs = manager.selected(jobs_in(namespace))
        self.jobs.add_index(_INDEX, lambda job: [node_of(job)])

    def check_synced(self) -> None:
        """Raises WaitingError until everything was listed."""
        for store in (self.pools, self.nodes, self.jobs):
            store.check_synced()

    def note_node(self, node: KubeObject) -> None:
        """A node as it was written: the event that shows it comes later."""
        self.nodes.update(without_what_nobody_reads(node))

    def job(self, node: NodeState) -> KubeObject | None:
        """The Job that brings a node to the configuration that it is brought to."""
        found = (each for each in self.jobs_of(node.name) if configuration_of(each) == node.desired)
        return next(found, None) if node.is_updating else None

    def jobs_of(self, node: str) -> Sequence[KubeObject]:
        """All Jobs of a node, also of what it was brought to before."""
        return self.jobs.by_index(_INDEX, node)

    def plan(self, pool: KubeObject) -> Plan | None:
        """What is done next in a pool; None for one that somebody else looks after."""
        target = target_of(pool)
        if target is None:
            return None
        try:
            nodes = members(pool, self.pools.objects(), self.nodes.objects())
            limit = max_unavailable(pool, nodes)
        except PoolError as problem:
            return Plan(target, problem=problem)
        states = {name_of(node): state_of(node) for node in nodes}
        planned = steps(
            list(states.values()),
            {name: self._job_state(state) for name, state in states.items()},
            target.name,
            limit=limit,
            may_begin=not is_paused(pool),
        )
        return Plan(target, {name_of(node): node for node in nodes}, states, planned)

    def plan_of_node(self, name: str) -> Plan | None:
        """The plan of the pool that a node is in, if it is in one."""
        plans = (self.plan(pool) for pool in self.pools.objects())
        return next((plan for plan in plans if plan and name in plan.nodes), None)

    def _job_state(self, node: NodeState) -> JobState:
        return job_state(self.job(node))
