"""Probes, deadlines and digests that a user's own ClusterObjectSet brings."""

import json
from typing import Any

import httpx
import pytest

from api.objects import KubeObject, condition
from e2e.olm.programs import SYSTEM_NAMESPACE
from tests.integration.health import CURRENT, FAILED, judged
from tests.integration.object_sets.world import World, within

pytestmark = pytest.mark.integration


def by_kind(kind: str, *assertions: dict[str, Any], group: str = "") -> dict[str, Any]:
    selector = {"type": "GroupKind", "groupKind": {"group": group, "kind": kind}}
    return {"selector": selector, "assertions": list(assertions)}


def field_value(path: str, value: str) -> dict[str, Any]:
    return {"type": "FieldValue", "fieldValue": {"fieldPath": path, "value": value}}


def labelled(obj: KubeObject, **labels: str) -> KubeObject:
    obj["metadata"]["labels"] = labels
    return obj


def claim(world: World) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "claim", "namespace": world.namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "",
            "volumeName": world.namespace,
            "resources": {"requests": {"storage": "1Mi"}},
        },
    }


def test_a_phase_waits_for_a_probe_and_goes_on_when_it_passes(world: World) -> None:
    probe = by_kind("PersistentVolumeClaim", field_value("status.phase", "Bound"))
    world.apply(
        world.object_set([claim(world)], [world.config_map(a="1")], progressionProbes=[probe])
    )
    message = (
        f"Object PersistentVolumeClaim.v1 {world.namespace}/claim: "
        'value at key "status.phase" != "Bound"; expected: "Bound" got: "Pending"'
    )
    found = world.wait("Available", "False", message=message)
    assert (condition(found, "Available") or {})["reason"] == "ProbeFailure"
    assert (condition(found, "Available") or {})["message"] == message
    assert (condition(found, "Progressing") or {})["reason"] == "RollingOut"
    assert world.api.get(world.map_path()) is None
    path = f"/api/v1/namespaces/{world.namespace}/persistentvolumeclaims/claim/status"
    world.api.patch(path, {"status": {"phase": "Bound"}})  # nobody binds volumes here
    world.wait("Succeeded", "True")
    assert world.api.get(world.map_path()) is not None


@pytest.mark.parametrize(
    ("assertion", "mend", "message"),
    [
        pytest.param(
            field_value("data.foo", "bar"),
            {"data": {"foo": "bar"}},
            'value at key "data.foo" != "bar"; expected: "bar" got: "foo"',
            id="a field has a value",
        ),
        pytest.param(
            {"type": "FieldsEqual", "fieldsEqual": {"fieldA": "data.foo", "fieldB": "data.twin"}},
            {"data": {"twin": "foo"}},
            '"data.foo" == "data.twin": "data.twin" is missing',
            id="two fields are equal",
        ),
    ],
)
def test_probes_choose_by_label(
    world: World, assertion: dict[str, Any], mend: dict[str, Any], message: str
) -> None:
    expression = {"key": "watched", "operator": "Exists"}
    selector = {"type": "Label", "label": {"matchExpressions": [expression]}}
    first = labelled(world.config_map("first"), watched="yes")
    other = world.config_map("other", foo="never asked")
    world.apply(
        world.object_set(
            [first, other],
            [world.config_map("next")],
            progressionProbes=[{"selector": selector, "assertions": [assertion]}],
        )
    )
    world.api.wait(world.map_path("first"), lambda o: o is not None, what="the first phase")
    world.api.patch(world.map_path("first"), {"data": {"foo": "foo"}})
    begin = f"Object ConfigMap.v1 {world.namespace}/first: "
    world.wait("Available", "False", message=begin + message)
    assert world.api.get(world.map_path("next")) is None
    world.api.patch(world.map_path("first"), mend)
    world.wait("Succeeded", "True")
    assert world.api.get(world.map_path("next")) is not None


def test_a_condition_that_an_object_loses_later_is_reported(world: World) -> None:
    equal = {"type": "ConditionEqual", "conditionEqual": {"type": "Ready", "status": "True"}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": world.namespace},
        "spec": {"containers": [{"name": "c", "image": "registry.invalid/c:1"}]},
    }
    probe = by_kind("Pod", equal)
    world.apply(world.object_set([pod], progressionProbes=[probe]))
    world.wait("Available", "False", message='condition "Ready" == "True": not reported')
    path = f"/api/v1/namespaces/{world.namespace}/pods/pod"

    def report(status: str) -> None:
        ready = {"type": "Ready", "status": status}
        world.api.patch(f"{path}/status", {"status": {"conditions": [ready]}})

    report("True")
    world.wait("Available", "True")
    report("False")  # nothing of ours has changed, and still it is enqueued
    world.wait("Available", "False", message='condition "Ready" == "True": is False')
    world.api.patch(path, {"metadata": {"finalizers": None}})
    world.api.delete(f"{path}?gracePeriodSeconds=0")


def test_a_selector_that_says_nothing_is_refused_before_anything_is_applied(world: World) -> None:
    expression = {"key": "a", "operator": "In", "values": []}
    selector = {"type": "Label", "label": {"matchExpressions": [expression]}}
    probe = {"selector": selector, "assertions": [field_value("data.a", "1")]}
    world.apply(world.object_set([world.config_map()], progressionProbes=[probe]))
    found = world.wait("Progressing", "False", message="invalid label selector in progressionProbe")
    assert (condition(found, "Progressing") or {})["reason"] == "Blocked"
    assert world.api.get(world.map_path()) is None


@pytest.fixture
def short_deadlines(world: World) -> None:
    """The shortest deadline of the API is ten minutes; only the schema knows."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    path = f"{crds}/clusterobjectsets.olm.operatorframework.io"
    found = world.api.get(path) or {}
    version = found["spec"]["versions"][0]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    spec["progressDeadlineMinutes"]["minimum"] = 1
    world.api.patch(path, {"spec": {"versions": [version]}})


def test_after_a_deadline_a_late_success_counts_and_archiving_cleans_up(
    world: World, short_deadlines: None
) -> None:
    probe = by_kind("ConfigMap", field_value("data.foo", "bar"))
    hasty: dict[str, Any] = {"progressionProbes": [probe], "progressDeadlineMinutes": 1}
    late = world.object_set([world.config_map()], **hasty)
    never = world.object_set([world.config_map("never")], name="never", **hasty)

    def accepted() -> bool:  # the server takes a moment to know the other schema
        try:
            world.apply(late, never)
        except httpx.HTTPStatusError:
            return False
        return True

    within(60, accepted, "a deadline of a minute is accepted")
    world.wait("Progressing", "True", message="is rolling out")
    message = "Revision has not rolled out for 1 minute(s). Last status: Revision 1 is rolling out."
    late_one = world.api.wait_condition(
        world.path(), "Progressing", "False", message=message, timeout=90
    )
    assert (condition(late_one, "Progressing") or {})["reason"] == "ProgressDeadlineExceeded"
    world.api.patch(world.map_path(), {"data": {"foo": "bar"}})
    world.wait("Succeeded", "True")
    world.wait("Progressing", "True", message="Revision 1 has rolled out.")
    world.wait("Progressing", "False", name="never", message=message)
    assert world.api.get(world.map_path("never")) is not None
    world.api.patch(world.path("never"), {"spec": {"lifecycleState": "Archived"}})
    found = world.wait("Progressing", "False", name="never", message="revision is archived")
    assert (condition(found, "Progressing") or {})["reason"] == "Archived"
    assert world.api.get(world.map_path("never")) is None
    assert judged([late_one, found]) == [FAILED, CURRENT]


def test_content_that_is_swapped_is_refused_until_it_is_what_it_was(world: World) -> None:
    ref = {"name": f"{world.namespace}-content", "key": "map", "namespace": world.namespace}

    def store(value: str) -> None:
        path = f"/api/v1/namespaces/{world.namespace}/secrets/{ref['name']}"
        world.product.control_plane.end(path)
        meta = {"name": ref["name"], "namespace": world.namespace}
        content = {"map": json.dumps(world.config_map(a=value))}
        world.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": meta,
                "immutable": True,
                "stringData": content,
            }
        )
        world.api.patch(world.path(), {"metadata": {"annotations": {"look": value}}})

    referring = world.object_set([])
    referring["spec"]["phases"] = [{"name": "resources", "objects": [{"ref": ref}]}]
    world.apply(referring)
    store("original")
    found = world.wait("Succeeded", "True")
    [observed] = found["status"]["observedPhases"]
    assert observed["name"] == "resources"
    assert observed["digest"].startswith("sha256:")
    store("tampered")
    changed = 'resolved content of 1 phase(s) has changed: phase "resources"'
    found = world.wait("Progressing", "False", message=changed)
    assert (condition(found, "Progressing") or {})["reason"] == "Blocked"
    assert world.map()["data"] == {"a": "original"}
    store("original")
    world.wait("Progressing", "True", message="Revision 1 has rolled out.")


def test_a_secret_elsewhere_is_read_with_the_rights_of_the_account(world: World) -> None:
    world.revoke()
    ref = {"name": "content", "key": "map", "namespace": world.namespace}
    referring = world.object_set([])
    referring["spec"]["phases"] = [{"name": "resources", "objects": [{"ref": ref}]}]
    world.apply(referring)
    message = f'secrets "content" is forbidden: User "{world.account}"'
    world.wait("Progressing", "True", message=message)
    assert SYSTEM_NAMESPACE not in world.namespace
