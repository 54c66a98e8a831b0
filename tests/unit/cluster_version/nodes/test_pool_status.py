"""The status of a pool."""

from datetime import UTC, datetime
from typing import Any

from api import wire
from api.objects import KubeObject
from api.openshift.machineconfiguration.v1.machineconfigpool import MachineConfigPoolStatus
from cluster_version.nodes.pool_status import pool_status
from cluster_version.nodes.pools import PoolError, Target
from cluster_version.nodes.states import NodeState

NOW = datetime(2025, 1, 1, tzinfo=UTC)
NEW = Target("new", "image")
OLD_NODE = NodeState(name="old", current="old", desired="old")
NEW_NODE = NodeState(name="new", current="new", desired="new")
WORKING = NodeState(name="working", current="old", desired="new", is_cordoned=True)
BROKEN = NodeState(name="broken", current="", desired="new", is_cordoned=True, failure="no disk")
CORDONED = NodeState(name="cordoned", current="new", desired="new", is_cordoned=True)


def pool(status: dict[str, Any] | None = None, **spec: Any) -> KubeObject:
    configured = {"configuration": {"name": "new", "image": "image"}}
    return {"metadata": {"generation": 2}, "spec": configured | spec, "status": status or {}}


def conditions(status: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"]}


def test_a_pool_that_is_updated() -> None:
    status = pool_status(pool(), [NEW_NODE, CORDONED], NEW, NOW)
    assert status["configuration"] == {"name": "new", "image": "image"}
    assert conditions(status) == {
        "Updated": "True",
        "Updating": "False",
        "RenderDegraded": "False",
        "NodeDegraded": "False",
        "Degraded": "False",
    }
    counts = {key: value for key, value in status.items() if key.endswith("Count")}
    assert counts == {
        "machineCount": 2,
        "updatedMachineCount": 2,
        "readyMachineCount": 1,
        "unavailableMachineCount": 1,
        "degradedMachineCount": 0,
    }
    wire.read(MachineConfigPoolStatus, status)


def test_a_pool_on_its_way_shows_where_it_comes_from() -> None:
    old = {"configuration": {"name": "old"}}
    status = pool_status(pool(old), [NEW_NODE, OLD_NODE, WORKING, BROKEN], NEW, NOW)
    assert status["configuration"] == {"name": "old"}
    shown = conditions(status)
    assert (shown["Updated"], shown["Updating"], shown["Degraded"]) == ("False", "True", "True")
    [degraded] = [each for each in status["conditions"] if each["type"] == "NodeDegraded"]
    assert degraded["message"] == 'Node broken is reporting: "no disk"'
    assert degraded["reason"] == "1 node is reporting degraded status on sync"
    assert (status["unavailableMachineCount"], status["degradedMachineCount"]) == (2, 1)


def test_a_pool_that_stands_still() -> None:
    status = pool_status(pool(paused=True), [OLD_NODE], NEW, NOW)
    [updating] = [each for each in status["conditions"] if each["type"] == "Updating"]
    assert updating["status"] == "False"
    assert updating["message"] == "Pool is paused; will not update to new"


def test_a_pool_that_cannot_be_understood() -> None:
    status = pool_status(pool(), [], NEW, NOW, PoolError("InvalidNodeSelector", "odd"))
    shown = conditions(status)
    assert (shown["Updated"], shown["Degraded"]) == ("False", "True")
    [degraded] = [each for each in status["conditions"] if each["type"] == "RenderDegraded"]
    assert (degraded["reason"], degraded["message"]) == ("InvalidNodeSelector", "odd")


def test_times_move_with_the_status_alone_and_foreign_conditions_stay() -> None:
    since = "2020-01-01T00:00:00Z"
    theirs = {"type": "PinnedImageSetsDegraded", "status": "False", "lastTransitionTime": since}
    first = pool_status(pool({"conditions": [theirs]}), [NEW_NODE], NEW, NOW)
    assert first["conditions"][0] == theirs
    later = datetime(2025, 1, 2, tzinfo=UTC)
    assert pool_status(pool(first), [NEW_NODE], NEW, later) == first
    moved = pool_status(pool(first), [OLD_NODE], NEW, later)
    times = {each["type"]: each["lastTransitionTime"] for each in moved["conditions"]}
    assert times["Updated"] == "2025-01-02T00:00:00Z"
    assert times["Degraded"] == "2025-01-01T00:00:00Z"
