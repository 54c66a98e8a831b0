"""Pools of nodes that are updated: whatever ends first, limits are kept and every node gets there.

The nodes are objects as the API server holds them, and what is written to them is merged in.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject
from cluster_version.nodes import patches
from cluster_version.nodes.planning import steps
from cluster_version.nodes.pools import max_unavailable
from cluster_version.nodes.states import JobState, NodeState, Step, state_of
from tests.cases.crd.loader import merge_patch

pytestmark = pytest.mark.property

AT_ONCE = (Step.CORDON, Step.CORDON_AGAIN, Step.UNCORDON, Step.GIVE_BACK, Step.REPORT_FAILURE)
SEQUENCE = ["cordon", "drain", "update", "reboot", "uncordon"]


def node(name: str, **spec: Any) -> KubeObject:
    ready = {"type": "Ready", "status": "True"}
    return {
        "metadata": {"name": name},
        "spec": spec,
        "status": {"conditions": [ready], "nodeInfo": {"bootID": "0"}},
    }


class Pool:
    """A pool, the nodes of which do one thing at a time, when they are told to."""

    def __init__(self, count: int, limit: int | str | None, prefix: str = "node") -> None:
        self.nodes = {name: node(name) for name in (f"{prefix}-{n}" for n in range(count))}
        self.jobs: dict[str, JobState] = {}
        spec = {} if limit is None else {"maxUnavailable": limit}
        self.limit = max_unavailable({"spec": spec}, list(self.nodes.values()))
        self.target = "new"
        self.paused = False
        self.done: dict[str, list[str]] = {name: [] for name in self.nodes}

    def states(self) -> list[NodeState]:
        return [state_of(each) for each in self.nodes.values()]

    def steps(self) -> dict[str, Step]:
        return steps(
            self.states(), self.jobs, self.target, limit=self.limit, may_begin=not self.paused
        )

    def unavailable(self) -> set[str]:
        return {each.name for each in self.states() if not each.is_available}

    def write(self, name: str, patch: Any) -> None:
        self.nodes[name] = merge_patch(self.nodes[name], patch)

    def plan(self) -> None:
        """What the controller does at once: begin, and end; and again with what became free."""
        while any(step in AT_ONCE for step in self.steps().values()):
            self.write_steps()

    def write_steps(self) -> None:
        for name, step in self.steps().items():
            state = state_of(self.nodes[name])
            match step:
                case Step.CORDON:
                    self.write(name, patches.cordon(state, self.target))
                    self.jobs.pop(name, None)
                    self.done[name].append("cordon")
                case Step.CORDON_AGAIN:
                    self.write(name, patches.CORDON_AGAIN)
                case Step.UNCORDON:
                    self.write(name, patches.uncordon(state))
                    self.jobs.pop(name)
                    self.done[name].append("uncordon")
                case Step.GIVE_BACK:
                    self.write(name, patches.give_back(state))
                    self.done[name].clear()
                case Step.REPORT_FAILURE:
                    self.write(name, patches.failure("it broke"))

    def busy(self) -> list[str]:
        """The nodes on which something can come to an end."""
        waited = (Step.DRAIN, Step.AWAIT_JOB, Step.AWAIT_REBOOT)
        return [name for name, step in self.steps().items() if step in waited]

    def go_on(self, name: str, *, fails: bool = False) -> None:
        """What a node is busy with ends."""
        match self.steps()[name]:
            case Step.DRAIN:
                self.write(name, patches.begin_job(state_of(self.nodes[name])))
                self.jobs[name] = JobState.RUNNING
                self.done[name].append("drain")
            case Step.AWAIT_JOB:
                self.jobs[name] = JobState.FAILED if fails else JobState.SUCCEEDED
                self.done[name].append("update")
            case Step.AWAIT_REBOOT:
                info = self.nodes[name]["status"]["nodeInfo"]
                self.nodes[name]["status"]["nodeInfo"] = {"bootID": info["bootID"] + "1"}
                self.done[name].append("reboot")

    def is_updated(self) -> bool:
        return all(each.current == self.target and each.is_available for each in self.states())


LIMITS = st.one_of(st.none(), st.integers(0, 6), st.integers(0, 100).map(lambda each: f"{each}%"))


@given(data=st.data(), count=st.integers(1, 7), limit=LIMITS)
def test_a_pool_is_updated_within_its_limit(
    data: st.DataObject, count: int, limit: int | str | None
) -> None:
    pool = Pool(count, limit)
    begun: set[str] = set()
    for _ in range(count * 5):
        pool.plan()
        unavailable = pool.unavailable()
        assert len(unavailable) <= pool.limit
        left = [each for each in pool.states() if each.current != pool.target]
        assert len(unavailable) == min(pool.limit, len(left)), "as many as may be at once"
        begun |= unavailable
        if busy := pool.busy():
            pool.go_on(data.draw(st.sampled_from(busy)))
    pool.plan()
    assert pool.is_updated()
    assert begun == set(pool.nodes)
    assert all(done == SEQUENCE for done in pool.done.values())


@given(data=st.data())
def test_five_nodes_three_at_a_time_beside_the_control_plane(data: st.DataObject) -> None:
    """Scenario 63: any order of ends, both pools at once."""
    workers, control_plane = Pool(5, 3), Pool(3, None, "master")
    both_at_once = False
    while not (workers.is_updated() and control_plane.is_updated()):
        for pool in (workers, control_plane):
            pool.plan()
        assert len(workers.unavailable()) <= 3
        assert len(control_plane.unavailable()) <= 1
        both_at_once |= bool(workers.unavailable() and control_plane.unavailable())
        busy = [(pool, name) for pool in (workers, control_plane) for name in pool.busy()]
        if busy:
            pool, name = data.draw(st.sampled_from(busy))
            pool.go_on(name)
    assert both_at_once
    done = [*workers.done.values(), *control_plane.done.values()]
    assert all(each == SEQUENCE for each in done)


ACTS = st.sampled_from(
    ["go on", "fail", "break", "mend", "cordon", "uncordon", "pause", "retarget"]
)


@given(data=st.data(), count=st.integers(1, 5), limit=st.integers(1, 4))
def test_whatever_happens_no_node_is_begun_over_the_limit(
    data: st.DataObject, count: int, limit: int
) -> None:
    pool = Pool(count, limit)
    for act in data.draw(st.lists(ACTS, max_size=25)):
        happen(pool, act, data)
        before, was_paused = pool.unavailable(), pool.paused
        pool.plan()
        more = pool.unavailable() - before
        assert not more or len(pool.unavailable()) <= pool.limit
        assert not (more and was_paused)
    settle(pool)
    assert pool.is_updated()


def happen(pool: Pool, act: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(pool.nodes)))
    match act:
        case "go on" | "fail":
            if busy := pool.busy():
                pool.go_on(data.draw(st.sampled_from(busy)), fails=act == "fail")
        case "break" | "mend":
            status = "False" if act == "break" else "True"
            pool.nodes[name]["status"]["conditions"] = [{"type": "Ready", "status": status}]
        case "cordon" | "uncordon":
            pool.write(name, {"spec": {"unschedulable": act == "cordon" or None}})
        case "pause":
            pool.paused = not pool.paused
        case "retarget":
            pool.target = data.draw(st.sampled_from(["new", "newer"]))


def settle(pool: Pool) -> None:
    """All is mended, and whatever failed is tried again, as after a Job that is deleted."""
    pool.paused = False
    for name in pool.nodes:
        pool.nodes[name]["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
        if not state_of(pool.nodes[name]).is_updating:
            pool.write(name, {"spec": {"unschedulable": None}})
    for _ in range(20 * len(pool.nodes)):
        pool.plan()
        for name, state in list(pool.jobs.items()):
            if state is JobState.FAILED:
                pool.jobs.pop(name)
        for name in pool.busy():
            pool.go_on(name)


def test_the_five_node_example_of_the_document() -> None:
    pool = Pool(5, 3)
    trace = []
    pool.plan()
    trace.append(pool.unavailable())
    for finished in (1, 0, 2, 4, 3):
        for _ in range(3):
            pool.go_on(f"node-{finished}")
        pool.plan()
        trace.append(pool.unavailable())
    numbers = [sorted(int(name[-1]) + 1 for name in each) for each in trace]
    assert numbers == [[1, 2, 3], [1, 3, 4], [3, 4, 5], [4, 5], [4], []]
