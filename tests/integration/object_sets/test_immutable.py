"""Changes that the API server refuses of an existing object: the table, kind by kind."""

import copy
from typing import Any

import pytest

from api.objects import KubeObject, condition, gvk_of, metadata
from tests.integration.object_sets.world import (
    World,
    deployment,
    make_extension,
    revision_of,
    within,
)

pytestmark = pytest.mark.integration

RBAC = "rbac.authorization.k8s.io"


def path_of(world: World, obj: KubeObject) -> str:
    plural = {"StorageClass": "storageclasses", "PriorityClass": "priorityclasses"}
    gvk = gvk_of(obj)
    home = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.version}"
    space = f"/namespaces/{world.namespace}" if metadata(obj).get("namespace") else ""
    return f"{home}{space}/{plural.get(gvk.kind, gvk.kind.lower() + 's')}/{metadata(obj)['name']}"


def obj(world: World, api: str, kind: str, **fields: Any) -> KubeObject:
    meta = {"name": world.namespace}
    if kind not in ("StorageClass", "PriorityClass", "ClusterRoleBinding"):
        meta["namespace"] = world.namespace
    return {"apiVersion": api, "kind": kind, "metadata": meta, **fields}


def binding(world: World, role: str, *, kind: str = "RoleBinding") -> KubeObject:
    subject = {"kind": "ServiceAccount", "name": "installer", "namespace": world.namespace}
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": role}
    return obj(world, f"{RBAC}/v1", kind, roleRef=ref, subjects=[subject])


def before_and_after(world: World, case: str) -> tuple[KubeObject, KubeObject]:
    match case:
        case "RoleBinding" | "ClusterRoleBinding":
            return binding(world, "view", kind=case), binding(world, "edit", kind=case)
        case "immutable ConfigMap":
            return (
                obj(world, "v1", "ConfigMap", immutable=True, data={"a": "1"}),
                obj(world, "v1", "ConfigMap", immutable=True, data={"a": "2"}),
            )
        case "Secret":
            return (
                obj(world, "v1", "Secret", type="example.com/one"),
                obj(world, "v1", "Secret", type="example.com/two"),
            )
        case "PriorityClass":
            return (
                obj(world, "scheduling.k8s.io/v1", case, value=1),
                obj(world, "scheduling.k8s.io/v1", case, value=2),
            )
        case "StorageClass":
            return (
                obj(world, "storage.k8s.io/v1", case, provisioner="example.com/one"),
                obj(world, "storage.k8s.io/v1", case, provisioner="example.com/two"),
            )
        case "Deployment":
            first = deployment(world)
            second = copy.deepcopy(first)
            second["spec"]["selector"]["matchLabels"] = {"app": "other"}
            second["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
            return first, second
        case "Service":
            ports = [{"port": 80}]
            return (
                obj(world, "v1", "Service", spec={"ports": ports}),
                obj(world, "v1", "Service", spec={"ports": ports, "clusterIP": "None"}),
            )
        case _:
            raise ValueError(case)


REPLACED = (
    "RoleBinding",
    "ClusterRoleBinding",
    "immutable ConfigMap",
    "Secret",
    "PriorityClass",
    "StorageClass",
)


@pytest.mark.parametrize("case", REPLACED)
def test_what_loses_nothing_is_made_anew(world: World, case: str) -> None:
    reference = make_extension(world)
    first, second = before_and_after(world, case)
    world.apply(revision_of(world, reference, 1, [first]))
    world.wait("Succeeded", "True", name="1")
    old = world.api.get(path_of(world, first))
    world.apply(revision_of(world, reference, 2, [second]))
    world.wait("Succeeded", "True", name="2")
    new = world.api.get(path_of(world, second))
    assert metadata(new or {})["uid"] != metadata(old or {})["uid"]
    for key in set(second) - {"metadata"}:
        assert (new or {})[key] == second[key]
    world.api.delete(world.extension_path)
    world.api.wait_gone(world.extension_path)


@pytest.mark.parametrize(
    ("case", "cost"),
    [
        ("Deployment", "its pods are stopped and started anew"),
        ("Service", "it gets another address"),
    ],
)
def test_what_would_lose_something_is_refused_and_goes_on_when_a_person_has_deleted_it(
    world: World, case: str, cost: str
) -> None:
    reference = make_extension(world)
    first, second = before_and_after(world, case)
    world.apply(revision_of(world, reference, 1, [first]))
    world.wait("Succeeded", "True", name="1")
    uid = metadata(world.api.get(path_of(world, first)) or {})["uid"]
    world.apply(revision_of(world, reference, 2, [second]))
    message = f"{case} {world.namespace}/{metadata(first)['name']} cannot be changed"
    found = world.wait("Progressing", "False", name="2", message=message)
    progressing = condition(found, "Progressing") or {}
    assert progressing["reason"] == "Blocked"
    assert cost in progressing["message"]
    assert "kubectl delete" in progressing["message"]
    serving = world.api.get(world.path("1")) or {}
    assert serving["spec"]["lifecycleState"] == "Active"
    assert metadata(world.api.get(path_of(world, first)) or {})["uid"] == uid
    world.api.delete(path_of(world, first))
    world.wait("Succeeded", "True", name="2")
    within(60, lambda: world.api.get(path_of(world, second)) is not None, "it is made anew")
    world.api.delete(world.extension_path)
    world.api.wait_gone(world.extension_path)


@pytest.mark.parametrize("case", ["Secret", "immutable ConfigMap"])
def test_what_others_wrote_into_an_object_is_not_lost_with_it(world: World, case: str) -> None:
    reference = make_extension(world)
    first, second = before_and_after(world, case)
    world.apply(revision_of(world, reference, 1, [first]))
    world.wait("Succeeded", "True", name="1")
    path, theirs = path_of(world, first), "metadata.annotations.team"
    if case == "Secret":
        theirs = "data.token"
        world.api.patch(f"{path}?fieldManager=tokens", {"data": {"token": "dGhlaXJz"}})
    else:
        world.api.patch(f"{path}?fieldManager=tokens", {"metadata": {"annotations": {"team": "r"}}})
    uid = metadata(world.api.get(path) or {})["uid"]
    world.apply(revision_of(world, reference, 2, [second]))
    found = world.wait("Progressing", "False", name="2", message=f"{theirs} by tokens")
    progressing = condition(found, "Progressing") or {}
    assert progressing["reason"] == "Blocked"
    assert f"kubectl get {second['kind'].lower()} {world.namespace}" in progressing["message"]
    assert metadata(world.api.get(path) or {})["uid"] == uid
    world.api.delete(path)
    world.wait("Succeeded", "True", name="2")
    world.api.delete(world.extension_path)
    world.api.wait_gone(world.extension_path)


def test_a_policy_that_denies_a_change_is_not_gone_around(world: World) -> None:
    reference = make_extension(world)
    world.apply(revision_of(world, reference, 1, [binding(world, "view")]))
    world.wait("Succeeded", "True", name="1")
    name = world.namespace
    rule = {"apiGroups": [RBAC], "apiVersions": ["v1"], "operations": ["UPDATE"]}
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [{**rule, "resources": ["rolebindings"]}]},
            "validations": [
                {
                    "expression": f"object.metadata.namespace != '{name}'",
                    "message": "not to be changed",
                }
            ],
        },
    }
    bound = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    world.apply(policy, bound)
    path = path_of(world, binding(world, "view"))
    uid = metadata(world.api.get(path) or {})["uid"]

    def denied() -> bool:
        patch = {"metadata": {"annotations": {"try": "it"}}}
        headers = {"Content-Type": "application/merge-patch+json"}
        with world.product.control_plane.client() as http:
            return http.patch(f"{path}?dryRun=All", json=patch, headers=headers).is_error

    within(60, denied, "the policy is in force")
    world.apply(revision_of(world, reference, 2, [binding(world, "edit")]))
    world.wait("Progressing", "True", name="2", message="not to be changed")
    assert metadata(world.api.get(path) or {})["uid"] == uid
    kubectl = world.product.control_plane.kubectl
    kubectl("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", name)
    world.wait("Succeeded", "True", name="2")
    world.api.delete(world.extension_path)
