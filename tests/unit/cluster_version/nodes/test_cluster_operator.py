"""What ClusterOperator/machine-config says of pools."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.objects import condition
from cluster_version.nodes.cluster_operator import REQUIRED, Nodes, nodes_status

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REPORTED = {
    "versions": [{"name": "operator", "version": "1.0.0"}, {"name": "other", "version": "1"}]
}


def pool(name: str, image: str = "a", *, observed: int = 1, **status: str) -> dict[str, Any]:
    kinds = {"Updated": "True", "Degraded": "False", **status}
    conditions = [{"type": kind, "status": each, "message": kind} for kind, each in kinds.items()]
    return {
        "metadata": {"name": name, "generation": 1, "labels": {}},
        "spec": {"configuration": {"image": image}},
        "status": {"observedGeneration": observed, "conditions": conditions},
    }


def said(*pools: dict[str, Any], declared: str = "a") -> dict[str, str]:
    nodes = Nodes(pools, [pool("master", declared)], "1.0.1")
    status = nodes_status(nodes, REPORTED, NOW)
    assert status["versions"][-1] == {"name": "other", "version": "1"}
    statuses = {each["type"]: each["status"] for each in status["conditions"]}
    return {**statuses, "version": status["versions"][0]["version"]}


WELL = {"Available": "True", "Progressing": "False", "Degraded": "False", "Upgradeable": "True"}
BEHIND = {"Progressing": "True", "version": "1.0.0"}
BUSY = {"Upgradeable": "False"}


@pytest.mark.parametrize(
    ("pools", "differs"),
    [
        ([pool("master"), pool("worker")], {}),
        ([pool("master"), pool("worker", Updated="False")], BUSY),
        ([pool("master"), pool("worker", Degraded="True")], BUSY),
        ([pool("master", Updated="False")], BEHIND | BUSY),
        ([pool("master", observed=0)], BEHIND | BUSY),
        ([pool("master", "old")], BEHIND),
        ([pool("worker")], BEHIND),
        (
            [pool("master", Updated="False", Degraded="True", NodeDegraded="True")],
            BEHIND | BUSY | {"Degraded": "True"},
        ),
    ],
    ids=[
        *("all is well", "workers are updated", "workers are degraded", "masters are updated"),
        *("a change was not seen", "another configuration", "no such pool", "masters are degraded"),
    ],
)
def test_the_nodes_of_the_control_plane_are_waited_for(
    pools: list[dict[str, Any]], differs: dict[str, str]
) -> None:
    assert said(*pools) == WELL | {"version": "1.0.1"} | differs


def test_counts_of_an_earlier_configuration_are_not_reported() -> None:
    nodes = Nodes([pool("master", observed=0)], [], "1.0.1")
    progressing = condition({"status": nodes_status(nodes, REPORTED, NOW)}, "Progressing") or {}
    assert progressing["message"] == (
        "Working towards 1.0.1: required pool master is not updated (its nodes are not counted yet)"
    )


def test_a_pool_may_be_required_by_its_label() -> None:
    infra = pool("infra", Updated="False")
    infra["metadata"]["labels"] = {REQUIRED: ""}
    assert said(pool("master"), infra) == WELL | BEHIND | BUSY


def test_nothing_is_available_before_it_was_there_once() -> None:
    nodes = Nodes([pool("master", Updated="False")], [], "1.0.1")
    status = nodes_status(nodes, {}, NOW)
    assert (status["versions"], (condition({"status": status}, "Available") or {})["status"]) == (
        [],
        "False",
    )


def test_a_status_that_is_right_stays_as_it_is() -> None:
    nodes = Nodes([pool("master")], [], "1.0.1")
    status = nodes_status(nodes, {}, NOW)
    assert nodes_status(nodes, status, NOW + timedelta(days=1)) == status


def test_pools_of_another_program_are_its_own_to_report() -> None:
    assert not Nodes([pool("master", "")], [], "1.0.1").is_ours
    assert Nodes([pool("master")], [], "1.0.1").is_ours
