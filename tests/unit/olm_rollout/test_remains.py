"""Why a deleted object is still there."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_rollout.remains import INSTANCES_FINALIZER, instances_kind, obstacle, was_given_up

PATCH = """--type=merge --patch '{"metadata":{"finalizers":null}}'"""
HINT = "\nhint: who set them has to act; if nobody does any more: kubectl patch "


def live(api: str, kind: str, name: str, *, namespace: str = "", **fields: Any) -> KubeObject:
    finalizers = fields.pop("finalizers", [])
    meta = {"name": name, "namespace": namespace, "finalizers": finalizers}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **fields}


CRD = live(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "things.example.com",
    finalizers=[INSTANCES_FINALIZER],
    spec={
        "group": "example.com",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [{"name": "v1alpha1"}, {"name": "v1", "storage": True}],
    },
    status={"conditions": [{"type": "Terminating", "status": "True", "message": "deleting"}]},
)


def thing(name: str, *finalizers: str) -> KubeObject:
    return live("example.com/v1", "Thing", name, namespace="ns", finalizers=list(finalizers))


@pytest.mark.parametrize(
    ("obj", "instances", "text"),
    [
        pytest.param(
            live("apps/v1", "Deployment", "web", namespace="ns", finalizers=["a.io/x", "b.io/y"]),
            [],
            "Deployment ns/web is being deleted and waits for the finalizers a.io/x, b.io/y"
            f"{HINT}deployment.apps web --namespace ns {PATCH}",
            id="finalizers",
        ),
        pytest.param(
            live("v1", "Pod", "p", namespace="ns"),
            [],
            "Pod ns/p is being deleted and waits for its period of grace",
            id="a period of grace",
        ),
        pytest.param(
            CRD,
            [thing("one", "a.io/x"), thing("two")],
            "CustomResourceDefinition things.example.com is being deleted and waits for "
            f"Thing ns/one (finalizers a.io/x){HINT}things.example.com one --namespace ns {PATCH}",
            id="objects of a definition",
        ),
        pytest.param(
            CRD,
            [],
            "CustomResourceDefinition things.example.com is being deleted and waits for its "
            "objects to go: deleting",
            id="a definition of which no object can be seen",
        ),
        pytest.param(
            live(
                "v1",
                "Namespace",
                "ns",
                status={
                    "conditions": [
                        {"type": "NamespaceContentRemaining", "status": "True", "message": "pods"},
                        {"type": "NamespaceFinalizersRemaining", "status": "False"},
                    ]
                },
            ),
            [],
            "Namespace ns is being deleted and waits for what is in it: pods",
            id="a namespace",
        ),
    ],
)
def test_what_holds_it(obj: KubeObject, instances: list[KubeObject], text: str) -> None:
    assert obstacle(obj, instances) == text


def test_many_objects_of_a_definition_are_counted() -> None:
    text = obstacle(CRD, [thing(f"t{i}", "a.io/x") for i in range(8)])
    assert "Thing ns/t4 (finalizers a.io/x), 3 more\n" in text


def test_the_objects_of_a_definition_are_asked_for_in_their_stored_version() -> None:
    assert instances_kind(CRD) == GVK("example.com", "v1", "Thing")
    assert instances_kind(thing("one")) is None


@pytest.mark.parametrize(
    ("reason", "given_up"),
    [("InstanceDeletionFailed", True), ("InstanceDeletionInProgress", False)],
)
def test_a_definition_whose_objects_could_not_be_deleted_is_given_up(
    reason: str, given_up: bool
) -> None:
    found = {"type": "Terminating", "status": "True", "reason": reason}
    assert was_given_up({**CRD, "status": {"conditions": [found]}}) is given_up
    assert not was_given_up(thing("one"))
