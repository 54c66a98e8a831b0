"""Workloads that hold a release up."""

from typing import Any

import pytest

from cluster_version.errors import UpdateError
from cluster_version.health.workloads import judge
from cluster_version.payload.task_graph import State
from olm_runtime.errors import OLMError

META = {"name": "one", "namespace": "place"}


def workload(kind: str, *conditions: tuple[str, str], **status: Any) -> dict[str, Any]:
    listed = [{"type": t, "status": s, "reason": "Why", "message": "so"} for t, s in conditions]
    return {"kind": kind, "metadata": META, "status": {"conditions": listed, **status}}


AVAILABLE, UNAVAILABLE = ("Available", "True"), ("Available", "False")
STOPPED, FAILING = ("Progressing", "False"), ("ReplicaFailure", "True")


@pytest.mark.parametrize(
    ("live", "message"),
    [
        (workload("Deployment", UNAVAILABLE), ""),
        (workload("Deployment", AVAILABLE, STOPPED), ""),
        (workload("Deployment", FAILING), "deployment place/one has a replica failure Why: so"),
        (
            workload("Deployment", UNAVAILABLE, STOPPED),
            "deployment place/one is not available Why (so) or progressing Why (so)",
        ),
        (workload("DaemonSet", numberUnavailable=3), ""),
        (workload("Job", failed=1, active=1), ""),
        (workload("Job", failed=1, succeeded=1), ""),
        (workload("Job"), ""),
        (
            workload("Job", ("Failed", "True"), failed=1),
            'deadline exceeded, reason: "Why", message: "so"',
        ),
        (
            workload("CustomResourceDefinition", ("Established", "False")),
            "CustomResourceDefinition one Established=False, Why: so",
        ),
        (
            workload("CustomResourceDefinition"),
            "CustomResourceDefinition one does not declare an Established status condition: []",
        ),
        (workload("ConfigMap"), ""),
    ],
)
def test_what_an_update_waits_for(live: dict[str, Any], message: str) -> None:
    for state in (State.UPDATING, State.RECONCILING):
        found = ""
        try:
            judge(live, state)
        except OLMError as error:
            found = error.message
        assert found == message
    judge(live, State.INITIALIZING)


def test_a_rollout_that_took_too_long_is_reported() -> None:
    live = workload("Deployment", AVAILABLE)
    late = {"status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"}
    live["status"]["conditions"].append({"type": "Progressing", **late})
    with pytest.raises(UpdateError) as raised:
        judge(live, State.UPDATING)
    message = "deployment place/one is Progressing=False: ProgressDeadlineExceeded: late"
    assert raised.value.message == message
    assert raised.value.reason == "WorkloadNotProgressing"


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_what_is_being_deleted_is_not_there(kind: str) -> None:
    live = workload(kind)
    live["metadata"] = {**META, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    with pytest.raises(OLMError, match=f"{kind.lower()} place/one is being deleted"):
        judge(live, State.RECONCILING)


def test_a_definition_that_says_nothing_of_its_being_served_is_reported_with_what_it_says() -> None:
    live = workload("CustomResourceDefinition", ("NamesAccepted", "True"), ("Terminating", "False"))
    live["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-02T03:04:05Z"
    with pytest.raises(OLMError) as raised:
        judge(live, State.UPDATING)
    assert raised.value.message.endswith(
        "status condition: [{NamesAccepted True 2026-01-02 03:04:05 +0000 UTC Why so} "
        "{Terminating False 0001-01-01 00:00:00 +0000 UTC Why so}]"
    )
