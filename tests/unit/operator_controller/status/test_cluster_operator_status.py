"""The status of ClusterOperator/olm."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from api.conditions import MAX_MESSAGE_BYTES
from operator_controller.status.cluster_operator import ClusterFacts, cluster_operator_status
from operator_controller.status.cluster_updates import Compatibility

EARLIER = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2025, 1, 2, tzinfo=UTC)
WELL = ClusterFacts(Compatibility("", "fine"), "", "olmv1-system", "1.2.3")
FORBIDDEN = replace(WELL, compatibility=Compatibility("IncompatibleOperatorsInstalled", "a"))


def conditions(status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["type"]: each for each in status["conditions"]}


def test_all_is_well() -> None:
    at_work = "operator-controller 1.2.3 is at work"
    found = cluster_operator_status(WELL, {}, NOW)
    shown = [(c["type"], c["status"], c["reason"], c["message"]) for c in found["conditions"]]
    assert shown == [
        ("Available", "True", "AsExpected", at_work),
        ("Progressing", "False", "AsExpected", at_work),
        ("Degraded", "False", "AsExpected", at_work),
        ("Upgradeable", "True", "AsExpected", "fine"),
    ]
    assert {c["lastTransitionTime"] for c in found["conditions"]} == {"2025-01-02T00:00:00Z"}
    assert found["versions"] == [{"name": "operator", "version": "1.2.3"}]
    assert found["relatedObjects"][0] == {
        "group": "",
        "resource": "namespaces",
        "name": "olmv1-system",
    }


@pytest.mark.parametrize(
    ("facts", "kind", "status", "reason", "message"),
    [
        (FORBIDDEN, "Upgradeable", "False", "IncompatibleOperatorsInstalled", "a"),
        (replace(WELL, problem="why"), "Degraded", "True", "ClusterVersionUnknown", "why"),
        (replace(WELL, problem="why"), "Upgradeable", "True", "AsExpected", "fine"),
    ],
)
def test_what_is_wrong(
    facts: ClusterFacts, kind: str, status: str, reason: str, message: str
) -> None:
    found = conditions(cluster_operator_status(facts, {}, NOW))[kind]
    assert (found["status"], found["reason"], found["message"]) == (status, reason, message)


def test_the_same_facts_change_nothing() -> None:
    before = cluster_operator_status(FORBIDDEN, {}, EARLIER)
    assert cluster_operator_status(FORBIDDEN, before, NOW) == before


def test_only_a_changed_status_moves_its_time() -> None:
    before = cluster_operator_status(FORBIDDEN, {}, EARLIER)
    other = replace(WELL, compatibility=Compatibility("IncompatibleOperatorsInstalled", "b"))
    after = conditions(cluster_operator_status(other, before, NOW))["Upgradeable"]
    assert (after["message"], after["lastTransitionTime"]) == ("b", "2025-01-01T00:00:00Z")
    after = conditions(cluster_operator_status(WELL, before, NOW))["Upgradeable"]
    assert (after["status"], after["lastTransitionTime"]) == ("True", "2025-01-02T00:00:00Z")


def test_what_others_say_stays() -> None:
    theirs = {"type": "RecentBackup", "status": "Unknown"}
    old = {"conditions": [theirs, {"type": "Degraded", "status": "Unknown"}], "extension": {"a": 1}}
    found = cluster_operator_status(WELL, old, NOW)
    assert found["conditions"][0] == theirs
    assert conditions(found)["Degraded"]["status"] == "False"
    assert len(found["conditions"]) == 5
    assert found["extension"] == {"a": 1}


def test_a_message_has_a_limit() -> None:
    long = replace(WELL, compatibility=Compatibility("IncompatibleOperatorsInstalled", "x" * 99999))
    found = conditions(cluster_operator_status(long, {}, NOW))["Upgradeable"]["message"]
    assert len(found) == MAX_MESSAGE_BYTES
