"""What is read of nodes, and which are begun with. Sequences: tests/property."""

from dataclasses import replace
from typing import Any

import pytest

from cluster_version.nodes.planning import steps
from cluster_version.nodes.states import (
    JobState,
    NodeState,
    Step,
    next_step,
    state_of,
    step_without_pool,
)

NEW = "new"
READY = {"type": "Ready", "status": "True"}
CORDONED = NodeState(name="a", current="old", desired=NEW, is_cordoned=True)


def node(*conditions: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": spec, "status": {"conditions": list(conditions)}}


@pytest.mark.parametrize(
    ("seen", "available"),
    [
        (node(READY), True),
        (node(READY, unschedulable=True), False),
        (node(), False),
        (node({"type": "Ready", "status": "Unknown"}), False),
        (node(READY, {"type": "NetworkUnavailable", "status": "True"}), False),
        (node(READY, {"type": "NetworkUnavailable", "status": "False"}), True),
        (node(READY) | {"metadata": {"deletionTimestamp": "2025-01-01T00:00:00Z"}}, False),
    ],
)
def test_whether_a_node_is_available(seen: dict[str, Any], available: bool) -> None:
    assert state_of(seen).is_available is available


@pytest.mark.parametrize(
    ("seen", "job", "target", "step"),
    [
        (replace(CORDONED, current=NEW), JobState.ABSENT, NEW, Step.NONE),
        (replace(CORDONED, is_cordoned=False), JobState.RUNNING, NEW, Step.CORDON_AGAIN),
        (CORDONED, JobState.ABSENT, NEW, Step.DRAIN),
        (CORDONED, JobState.ABSENT, "newer", Step.CORDON),
        (CORDONED, JobState.ABSENT, "old", Step.GIVE_BACK),
        (replace(CORDONED, boot_id_before="1"), JobState.ABSENT, "old", Step.CORDON),
        (CORDONED, JobState.RUNNING, "newer", Step.AWAIT_JOB),
        (CORDONED, JobState.FAILED, NEW, Step.REPORT_FAILURE),
        (replace(CORDONED, failure="a"), JobState.FAILED, NEW, Step.AWAIT_HELP),
        (replace(CORDONED, failure="a"), JobState.FAILED, "old", Step.CORDON),
        (
            replace(CORDONED, boot_id_before="1", boot_id="1"),
            JobState.SUCCEEDED,
            NEW,
            Step.AWAIT_REBOOT,
        ),
        (
            replace(CORDONED, boot_id_before="1", boot_id="2", is_ready=False),
            JobState.SUCCEEDED,
            NEW,
            Step.AWAIT_REBOOT,
        ),
        (
            replace(CORDONED, boot_id_before="1", boot_id="2"),
            JobState.SUCCEEDED,
            "newer",
            Step.UNCORDON,
        ),
    ],
)
def test_the_next_step(seen: NodeState, job: JobState, target: str, step: Step) -> None:
    assert next_step(seen, job, target) is step


@pytest.mark.parametrize(
    ("seen", "job", "step"),
    [
        (replace(CORDONED, current=NEW), JobState.ABSENT, Step.NONE),
        (CORDONED, JobState.ABSENT, Step.GIVE_BACK),
        (CORDONED, JobState.RUNNING, Step.AWAIT_JOB),
        (replace(CORDONED, boot_id_before="1", boot_id="2"), JobState.SUCCEEDED, Step.UNCORDON),
        (CORDONED, JobState.FAILED, Step.REPORT_FAILURE),
        (replace(CORDONED, boot_id_before="1"), JobState.ABSENT, Step.REPORT_FAILURE),
        (replace(CORDONED, boot_id_before="1", failure="a"), JobState.ABSENT, Step.AWAIT_HELP),
    ],
)
def test_the_next_step_without_a_pool(seen: NodeState, job: JobState, step: Step) -> None:
    assert step_without_pool(seen, job) is step


def test_zone_after_zone_and_only_available_nodes() -> None:
    nodes = [
        NodeState(name="a", zone="z2"),
        NodeState(name="b", zone="z1"),
        NodeState(name="c", zone="z1", is_ready=False),
        NodeState(name="d", zone="z1"),
    ]
    found = steps(nodes, {}, NEW, limit=3)
    assert [name for name, step in found.items() if step is Step.CORDON] == ["b", "d"]
    assert Step.CORDON not in steps(nodes, {}, NEW, limit=1).values()
    assert Step.CORDON not in steps(nodes, {}, NEW, limit=3, may_begin=False).values()
