"""Manifests of a release on a real API server: what is written, and what is left alone."""

from typing import Any

import pytest

from api.objects import KubeObject, gvk_of, metadata, name_of, namespace_of
from api.openshift.config.v1.kinds import PROXY
from cluster_version.apply.injections import CONFIGURATION_NAME
from cluster_version.apply.requests import Verb
from cluster_version.io.applying import Applied, Applier
from cluster_version.names import CREATE_ONLY, DELETE, INJECT_PROXY
from cluster_version.payload.task_graph import State
from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import InvalidError

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]


def manifest(name: str, **annotations: str) -> KubeObject:
    meta = {"name": name, "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"a": "1"}}


def deployment(name: str) -> KubeObject:
    labels = {"app": name}
    container = {"name": "c", "image": "example.com/c:1", "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


async def live(client: KubeClient, obj: KubeObject) -> KubeObject | None:
    return await client.find(gvk_of(obj), name_of(obj), namespace_of(obj))


async def test_what_is_missing_is_made_and_belongs_to_the_cluster_version(
    applier: Applier, name: str
) -> None:
    done = await applier.apply(manifest(name), State.INITIALIZING)
    assert done.verb is Verb.CREATE
    assert done.live is not None
    owner = metadata(done.live)["ownerReferences"][0]
    assert (owner["uid"], owner["controller"]) == (applier.owner_uid, True)


async def test_what_others_change_is_undone_and_what_they_add_stays(
    applier: Applier, client: KubeClient, name: str
) -> None:
    await applier.apply(manifest(name), State.INITIALIZING)
    await client.patch(manifest(name), {"data": {"a": "2", "b": "3"}})
    done = await applier.apply(manifest(name), State.RECONCILING)
    assert done.verb is Verb.UPDATE
    assert done.live is not None
    assert done.live["data"] == {"a": "1", "b": "3"}


def role(name: str) -> KubeObject:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    api_version = "rbac.authorization.k8s.io/v1"
    meta = {"name": name}
    return {"apiVersion": api_version, "kind": "ClusterRole", "metadata": meta, "rules": rules}


def service(name: str) -> KubeObject:
    spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


def job(name: str) -> KubeObject:
    container = {"name": "c", "image": "example.com/c:1"}
    spec = {"template": {"spec": {"containers": [container], "restartPolicy": "Never"}}}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def definition(name: str) -> KubeObject:
    group = f"{name}.example.com"
    names = {"plural": "things", "kind": "Thing"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": names,
        "versions": [served],
        "conversion": {"strategy": "None"},
    }
    meta = {"name": f"things.{group}"}
    api_version = "apiextensions.k8s.io/v1"
    kind = "CustomResourceDefinition"
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


@pytest.mark.parametrize("make", [manifest, deployment, role, service, job, definition])
async def test_what_the_server_filled_in_is_no_difference(
    applier: Applier, client: KubeClient, name: str, make: Any
) -> None:
    """A settled object costs no write: upstream's hot loops begin with defaults."""
    await applier.apply(make(name), State.UPDATING)
    before = await live(client, make(name))
    assert (await applier.apply(make(name), State.RECONCILING)).verb is None
    after = await live(client, make(name))
    assert before is not None
    assert after is not None
    assert metadata(before).get("generation") == metadata(after).get("generation")


async def test_scaling_by_hand_is_undone(applier: Applier, client: KubeClient, name: str) -> None:
    await applier.apply(deployment(name), State.INITIALIZING)
    await client.patch(deployment(name), {"spec": {"replicas": 3}})
    done = await applier.apply(deployment(name), State.RECONCILING)
    assert done.live is not None
    assert done.live["spec"]["replicas"] == 1


async def test_a_rule_that_is_added_is_removed(
    applier: Applier, client: KubeClient, name: str
) -> None:
    await applier.apply(role(name), State.INITIALIZING)
    wanted = role(name)["rules"]
    more = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    await client.patch(role(name), {"rules": [*wanted, more]})
    done = await applier.apply(role(name), State.RECONCILING)
    assert done.live is not None
    assert done.live["rules"] == wanted


async def test_what_is_created_only_is_made_again_and_never_changed(
    applier: Applier, client: KubeClient, name: str
) -> None:
    wanted = manifest(name, **{CREATE_ONLY: "true"})
    await applier.apply(wanted, State.INITIALIZING)
    await client.patch(wanted, {"data": {"a": "2"}})
    assert (await applier.apply(wanted, State.RECONCILING)).verb is None
    await client.delete(wanted)
    assert (await applier.apply(wanted, State.RECONCILING)).verb is Verb.CREATE


async def test_a_tombstone_takes_its_object_in_an_update_only_and_once(
    applier: Applier, client: KubeClient, name: str
) -> None:
    tombstone = manifest(name, **{DELETE: "true"})
    held = manifest(name)
    metadata(held)["finalizers"] = ["example.com/held"]
    await client.create(held, field_manager="test")
    for state in (State.INITIALIZING, State.RECONCILING):
        assert (await applier.apply(tombstone, state)).verb is None
    assert (await applier.apply(tombstone, State.UPDATING)).verb is Verb.DELETE
    assert applier.deletions.in_progress() == (f'ConfigMap "default/{name}"',)
    again: Applied = await applier.apply(tombstone, State.UPDATING)
    assert again.verb is None
    await client.patch(held, {"metadata": {"finalizers": None}})
    await applier.apply(tombstone, State.RECONCILING)
    assert applier.deletions.in_progress() == ()
    await client.create(manifest(name), field_manager="test")
    assert (await applier.apply(tombstone, State.UPDATING)).verb is None


async def test_what_the_server_refuses_is_reported(applier: Applier, name: str) -> None:
    broken = deployment(name)
    broken["spec"]["template"]["spec"]["containers"] = []
    with pytest.raises(InvalidError, match=r"spec\.template"):
        await applier.apply(broken, State.INITIALIZING)


async def test_what_the_proxy_is_reaches_those_who_ask(
    applier: Applier, client: KubeClient, served: ControlPlane, name: str
) -> None:
    """There need not be a proxy, nor its kind."""
    wanted = deployment(name)
    wanted["metadata"]["annotations"] = {INJECT_PROXY: "c"}
    await applier.apply(wanted, State.INITIALIZING)
    proxies = definition(name)
    proxies["metadata"]["name"] = "proxies.config.openshift.io"
    proxies["spec"] |= {"group": "config.openshift.io", "scope": "Cluster"}
    proxies["spec"]["names"] = {"plural": "proxies", "kind": "Proxy"}
    await client.apply(proxies, field_manager="test")
    served.kubectl("wait", "--for=condition=Established", "crd", proxies["metadata"]["name"])
    meta = {"name": CONFIGURATION_NAME}
    proxy = {"apiVersion": PROXY.api_version, "kind": PROXY.kind, "metadata": meta}
    await client.apply({**proxy, "status": {"httpsProxy": "http://p:1"}}, field_manager="test")
    done = await applier.apply(wanted, State.RECONCILING)
    assert done.verb is Verb.UPDATE
    assert done.live is not None
    [container] = done.live["spec"]["template"]["spec"]["containers"]
    assert {"name": "HTTPS_PROXY", "value": "http://p:1"} in container["env"]
    assert (await applier.apply(wanted, State.RECONCILING)).verb is None
