"""Deleting a set: last phase first, never stuck, and whatever holds an object is named."""

import httpx
import pytest

from api.objects import KubeObject, annotations_of, condition, metadata
from api.olm.v1 import names
from tests.integration.object_sets.world import World, crd, deployment, thing, within

pytestmark = pytest.mark.integration


def finalizers(obj: KubeObject | None) -> list[str]:
    return list(metadata(obj or {}).get("finalizers") or ())


def hold(world: World, path: str) -> None:
    world.api.patch(path, {"metadata": {"finalizers": ["example.com/stay"]}})


def release(world: World, path: str) -> None:
    world.api.patch(path, {"metadata": {"finalizers": None}})


def test_a_set_that_owns_its_objects_takes_them_along_last_phase_first(world: World) -> None:
    maps = [world.config_map(name) for name in ("one", "two", "three")]
    world.apply(world.object_set(*([one] for one in maps)))
    found = world.wait("Succeeded", "True")
    assert names.FINALIZER_TEARDOWN in finalizers(found)
    world.api.delete(world.path())
    world.api.wait_gone(world.path())
    assert [world.api.get(world.map_path(n)) for n in ("one", "two", "three")] == [None] * 3
    deletions = [e for e in world.requests("configmaps") if e["verb"] == "delete"]
    assert [e["objectRef"]["name"] for e in deletions] == ["three", "two", "one"]
    assert {e["impersonatedUser"]["username"] for e in deletions} == {world.account}


@pytest.mark.parametrize("how", ["archived", "deleted"])
def test_an_object_with_finalizers_is_named_and_what_is_below_it_waits(
    world: World, how: str
) -> None:
    world.apply(world.object_set([world.config_map("one")], [world.config_map("two")]))
    world.wait("Succeeded", "True")
    hold(world, world.map_path("two"))
    if how == "archived":
        world.api.patch(world.path(), {"spec": {"lifecycleState": "Archived"}})
    else:
        world.api.delete(world.path())
    message = (
        f"ConfigMap {world.namespace}/two is being deleted and waits for the finalizers "
        "example.com/stay"
    )
    found = world.wait("Progressing", "True", message=message)
    progressing = condition(found, "Progressing") or {}
    assert progressing["reason"] == "Retrying"
    patch = """kubectl patch configmap two --namespace {} --type=merge --patch '{}'""".format(
        world.namespace, '{"metadata":{"finalizers":null}}'
    )
    assert patch in progressing["message"]
    assert world.api.get(world.map_path("one")) is not None
    release(world, world.map_path("two"))
    world.api.wait_gone(world.map_path("one"))
    if how == "archived":
        world.wait("Progressing", "False", message="revision is archived")
    else:
        world.api.wait_gone(world.path())


def test_a_definition_waits_for_its_objects_and_names_those_that_stay(world: World) -> None:
    group = f"{world.namespace}.example.com"
    world.apply(world.object_set([crd(group)], [world.config_map(a="1")]))
    world.wait("Succeeded", "True")
    world.apply(thing(world, group))
    path = f"/apis/{group}/v1/namespaces/{world.namespace}/things/one"
    hold(world, path)
    world.api.delete(world.path())
    message = (
        f"CustomResourceDefinition things.{group} is being deleted and waits for "
        f"Thing {world.namespace}/one (finalizers example.com/stay)"
    )
    found = world.wait("Progressing", "True", message=message)
    patch = f"kubectl patch things.{group} one --namespace {world.namespace}"
    assert patch in (condition(found, "Progressing") or {})["message"]
    release(world, path)
    world.api.wait_gone(world.path())


def test_a_definition_that_the_server_gave_up_is_tried_again(world: World) -> None:
    """The server fails at times when a definition goes soon after a change, and then waits."""
    group = f"{world.namespace}.example.com"
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"
    world.apply(world.object_set([crd(group)]))
    world.wait("Succeeded", "True")
    hold(world, path)
    world.api.delete(world.path())
    failed = {"type": "Terminating", "status": "True", "reason": "InstanceDeletionFailed"}

    def retried(live: KubeObject | None) -> bool:
        if (condition(live or {}, "Terminating") or {}).get("reason") != failed["reason"]:
            world.api.patch(f"{path}/status", {"status": {"conditions": [failed]}})
        return names.ANNOTATION_TRY_AGAIN in annotations_of(live or {})

    world.api.wait(path, retried, what="the definition is changed")
    release(world, path)
    world.api.wait_gone(world.path())


def test_workloads_run_on_until_the_objects_of_definitions_are_gone(world: World) -> None:
    group = f"{world.namespace}.example.com"
    deployments = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/web"
    workload = [deployment(world, replicas=0)]
    world.apply(world.object_set([crd(group)], [world.config_map()], workload))
    world.wait("Succeeded", "True")
    world.apply(thing(world, group))
    path = f"/apis/{group}/v1/namespaces/{world.namespace}/things/one"
    hold(world, path)
    world.api.delete(world.path())
    world.wait("Progressing", "True", message=f"things.{group} is being deleted and waits for")
    assert world.api.get(deployments) is not None
    assert world.api.get(world.map_path()) is not None
    release(world, path)
    world.api.wait_gone(world.path())
    assert world.api.get(deployments) is None


def test_an_account_that_lost_its_rights_keeps_nothing(world: World) -> None:
    world.apply(world.object_set([world.config_map("one")]))
    world.wait("Succeeded", "True")
    world.revoke()
    world.api.delete(f"/api/v1/namespaces/{world.namespace}/serviceaccounts/installer")
    world.api.delete(world.path())
    world.api.wait_gone(world.path())
    world.api.wait_gone(world.map_path("one"))


def test_a_namespace_that_goes_keeps_nothing(world: World) -> None:
    world.apply(world.object_set([world.config_map("one")]))
    world.wait("Succeeded", "True")
    world.api.delete(f"/api/v1/namespaces/{world.namespace}")
    world.api.delete(world.path())
    world.api.wait_gone(world.path())


def test_an_api_that_does_not_answer_is_named_and_removal_goes_on_when_it_does(
    world: World,
) -> None:
    group = f"{world.namespace}.example.com"
    world.apply(world.object_set([crd(group)], [thing(world, group)]))
    world.wait("Succeeded", "True")
    service = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {
            "name": f"v1.{group}",
            # Else the server makes it serve the definition again.
            "labels": {"kube-aggregator.kubernetes.io/automanaged": "false"},
        },
        "spec": {
            "group": group,
            "version": "v1",
            "groupPriorityMinimum": 1000,
            "versionPriority": 15,
            "insecureSkipTLSVerify": True,
            "service": {"name": "nobody", "namespace": world.namespace},
        },
    }
    services = "/apis/apiregistration.k8s.io/v1/apiservices"
    within(60, lambda: world.api.get(f"{services}/v1.{group}") is not None, "the group is served")
    world.apply(service)
    things = f"/apis/{group}/v1/namespaces/{world.namespace}/things/one"

    def refused() -> bool:
        try:
            world.api.get(things)
        except httpx.HTTPStatusError:
            return True
        return False

    within(60, refused, "the API does not answer")
    world.api.delete(world.path())
    message = f"Thing {world.namespace}/one: "
    found = world.wait("Progressing", "True", message=message)
    progressing = (condition(found, "Progressing") or {})["message"]
    assert f"kubectl get apiservice v1.{group}" in progressing
    world.api.delete(f"{services}/v1.{group}")
    world.api.wait_gone(world.path())


def test_orphaning_leaves_the_objects(world: World) -> None:
    world.apply(world.object_set([world.config_map("one")]))
    world.wait("Succeeded", "True")
    world.api.delete(world.path(), propagation="Orphan")
    world.api.wait_gone(world.path())
    assert not metadata(world.map("one")).get("ownerReferences")
