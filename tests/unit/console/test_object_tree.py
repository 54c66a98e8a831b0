"""The tree of an extension's objects: what owns what, what is wrong, what happened."""

from typing import Any

import pytest

from api.objects import KubeObject
from console.object_tree import MAX_CHILDREN, MAX_EVENTS, MAX_TEXT, Node, by_object, tree


def _facts(kind: str, name: str, namespace: str = "", state: str = "Ready") -> dict[str, Any]:
    return {"kind": kind, "name": name, "namespace": namespace, "state": state, "message": ""}


def _owned(kind: str, name: str, owner: tuple[str, str], **rest: Any) -> KubeObject:
    owners = [{"kind": owner[0], "name": owner[1]}]
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": "team", "ownerReferences": owners},
        **rest,
    }


def _event(kind: str, name: str, note: str, time: str) -> KubeObject:
    about = {"kind": kind, "name": name, "namespace": "team"}
    return {
        "regarding": about,
        "note": note,
        "eventTime": time,
        "reason": "Seen",
        "type": "Warning",
    }


OWNER = ("Deployment", "operator")
SET = _owned("ReplicaSet", "operator-1", OWNER, spec={"replicas": 1})
OLD = _owned("ReplicaSet", "operator-0", OWNER, spec={"replicas": 0})
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def _pod(name: str, **status: Any) -> KubeObject:
    return _owned("Pod", name, ("ReplicaSet", "operator-1"), status=status)


def _deployment(owned: list[KubeObject], events: list[KubeObject] = []) -> Node:  # noqa: B006 - read
    return tree([_facts(*OWNER, "team")], owned, by_object(events))["team"][0]


def test_pods_are_below_their_sets_and_what_was_replaced_is_left_out() -> None:
    found = _deployment([OLD, SET, _pod("operator-1-a", **READY)])
    assert [each.name for each in found.children] == ["operator-1"]
    assert [(each.name, each.state) for each in found.children[0].children] == [
        ("operator-1-a", "Ready")
    ]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({}, "not looked at yet"),
        (
            {
                "containerStatuses": [
                    {"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}
                ]
            },
            "container main: ErrImagePull",
        ),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes"}]},
            "0/3 nodes",
        ),
    ],
)
def test_what_holds_a_pod_up_is_said(status: dict[str, Any], message: str) -> None:
    (pod,) = _deployment([SET, _pod("a", **status)]).children[0].children
    assert (pod.state, pod.message) == ("NotReady", message)


def test_what_is_wrong_comes_first_and_places_are_apart() -> None:
    found = tree(
        [
            _facts("ClusterRole", "a"),
            _facts("ConfigMap", "b", "team"),
            _facts("Service", "c", "team", "Missing"),
        ],
        (),
        {},
    )
    assert {place: [each.name for each in nodes] for place, nodes in found.items()} == {
        "": ["a"],
        "team": ["c", "b"],
    }


def test_events_are_with_their_object_the_newest_few_and_cut() -> None:
    events = [_event(*OWNER, "n" * 5000, f"2026-01-01T00:00:{number:02}Z") for number in range(30)]
    found = _deployment([], [*events, _event("Pod", "other", "elsewhere", "")])
    assert len(found.events) == MAX_EVENTS
    assert found.events[0].time.endswith("29Z")
    assert len(found.events[0].note) == MAX_TEXT


def test_many_pods_are_bounded() -> None:
    pods = [_pod(f"pod-{number}", **READY) for number in range(3000)]
    assert len(_deployment([SET, *pods]).children[0].children) == MAX_CHILDREN


def test_owners_in_a_circle_end() -> None:
    circle = [
        _owned("ReplicaSet", "a", ("ReplicaSet", "b"), spec={"replicas": 1}),
        _owned("ReplicaSet", "b", ("ReplicaSet", "a"), spec={"replicas": 1}),
        _owned("ReplicaSet", "a", OWNER, spec={"replicas": 1}),
    ]
    assert _deployment(circle).children
