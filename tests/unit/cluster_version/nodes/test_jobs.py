"""The Job of a node."""

from typing import Any

import pytest

from api.objects import KubeObject
from cluster_version.nodes.jobs import configuration_of, job_failure, job_of, job_state, node_of
from cluster_version.nodes.pools import Target
from cluster_version.nodes.states import JobState

NODE = {"metadata": {"name": f"{'a' * 60}.example.com", "uid": "1"}}
TARGET = Target("rendered-worker-1", "registry.example.com/os", ("update", "--now"))


def test_it_runs_on_its_node_with_all_rights() -> None:
    job = job_of(NODE, TARGET, "ns")
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["nodeName"] == NODE["metadata"]["name"]
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert (container["image"], container["command"]) == (TARGET.image, ["update", "--now"])
    assert container["securityContext"]["privileged"]
    assert {"name": "MACHINE_CONFIG", "value": TARGET.name} in container["env"]
    assert (node_of(job), configuration_of(job)) == (NODE["metadata"]["name"], TARGET.name)
    [owner] = job["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": NODE["metadata"]["name"],
        "uid": "1",
    }


def test_without_a_command_that_of_the_image_runs() -> None:
    [container] = job_of(NODE, Target("a", "b"), "ns")["spec"]["template"]["spec"]["containers"]
    assert "command" not in container


def test_its_name_is_that_of_node_and_configuration() -> None:
    """However long theirs are."""
    other = {"metadata": {"name": "other", "uid": "2"}}
    jobs = [
        job_of(NODE, TARGET, "ns"),
        job_of(other, TARGET, "ns"),
        job_of(NODE, Target("b", "c"), "ns"),
    ]
    names = {job["metadata"]["name"] for job in jobs}
    assert len(names) == 3
    assert max(map(len, names)) < 60
    assert job_of(NODE, TARGET, "ns") == jobs[0]


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ([], JobState.RUNNING),
        ([("SuccessCriteriaMet", "True")], JobState.RUNNING),
        ([("Complete", "True")], JobState.SUCCEEDED),
        ([("FailureTarget", "True"), ("Failed", "True")], JobState.FAILED),
        ([("Failed", "False")], JobState.RUNNING),
    ],
)
def test_what_has_become_of_it(conditions: list[tuple[str, str]], state: JobState) -> None:
    assert job_state(ended(*conditions)) is state


def ended(*conditions: tuple[str, str], **meta: Any) -> KubeObject:
    listed = [{"type": kind, "status": status} for kind, status in conditions]
    return {"metadata": {"name": "a", "namespace": "b", **meta}, "status": {"conditions": listed}}


def test_one_that_goes_is_waited_for() -> None:
    going = ended(("Failed", "True"), deletionTimestamp="2025-01-01T00:00:00Z")
    assert job_state(going) is JobState.RUNNING
    assert job_state(None) is JobState.ABSENT


def test_why_it_failed() -> None:
    assert job_failure(ended(("Failed", "True"))) == "Job b/a: failed"
