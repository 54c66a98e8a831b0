"""What the status of a group says, and when it is written."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from api.objects import KubeObject
from api.operators.v1.operatorgroup import OperatorGroup
from olm_classic.operator_groups.status import Found, status_of

FIRST, NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
ACCOUNT: KubeObject = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "sa", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
}
FOUND = Found(namespaces=["a", "b"])


def group(status: dict[str, Any] | None = None, **spec: Any) -> OperatorGroup:
    return OperatorGroup.from_object(
        {
            "apiVersion": "operators.coreos.com/v1",
            "kind": "OperatorGroup",
            "metadata": {"name": "og", "namespace": "ns", "uid": "u"},
            "spec": spec,
            "status": status or {},
        }
    )


def test_it_has_the_namespaces_and_when_they_changed() -> None:
    first = status_of(group(), FOUND, FIRST)
    assert first == {"lastUpdated": "2026-01-01T00:00:00Z", "namespaces": ["a", "b"]}
    swapped = {**first, "namespaces": ["b", "a"]}
    assert status_of(group(swapped), FOUND, NOW) == swapped, "they are a set"
    changed = status_of(group(first), Found(namespaces=["a"]), NOW)
    assert changed == {"lastUpdated": "2026-01-02T00:00:00Z", "namespaces": ["a"]}


def test_a_group_that_selects_nothing_says_so() -> None:
    assert status_of(group(), Found(namespaces=[]), NOW)["namespaces"] == []
    assert "namespaces" not in status_of(group(), Found(), NOW), "nobody could look"


def test_what_cannot_be_determined_stays() -> None:
    first = status_of(group(), FOUND, FIRST)
    assert status_of(group(first), Found(), NOW) == first


def test_it_refers_to_the_service_account() -> None:
    reported = status_of(
        group(serviceAccountName="sa"), Found(account=ACCOUNT, namespaces=["a"]), FIRST
    )
    reference = {"apiVersion": "v1", "kind": "ServiceAccount"}
    reference |= {"namespace": "ns", "name": "sa", "uid": "u"}
    assert reported["serviceAccountRef"] == reference
    gone = status_of(group(reported, serviceAccountName="sa"), Found(), NOW)
    assert "serviceAccountRef" not in gone
    assert gone["namespaces"] == ["a"]
    [condition] = gone["conditions"]
    assert condition == {
        "type": "OperatorGroupServiceAccount",
        "status": "True",
        "reason": "ServiceAccountNotFound",
        "message": "ServiceAccount sa not found",
        "lastTransitionTime": "2026-01-02T00:00:00Z",
    }
    assert "conditions" not in status_of(group(gone), replace(FOUND, namespaces=["a"]), NOW)


@pytest.mark.parametrize("foreign", [[], [{"type": "Mine", "status": "True", "reason": "Own"}]])
def test_another_group_of_its_namespace_is_a_condition_while_it_is_there(
    foreign: list[dict[str, str]],
) -> None:
    theirs = [
        {**each, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"} for each in foreign
    ]
    reported = status_of(group({"conditions": theirs}), replace(FOUND, several=True), FIRST)
    assert reported["conditions"] == [
        {
            "type": "MultipleOperatorGroup",
            "status": "True",
            "reason": "MultipleOperatorGroupsFound",
            "message": "Multiple OperatorGroup found in the same namespace",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        },
        *theirs,
    ]
    assert status_of(group(reported), replace(FOUND, several=True), NOW) == reported
    assert status_of(group(reported), FOUND, NOW).get("conditions", []) == theirs
