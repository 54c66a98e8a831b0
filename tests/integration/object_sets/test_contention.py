"""Fields that others set as well: a controller's are left to it, a rival is backed off from."""

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from api.objects import KubeObject, condition
from tests.integration.object_sets.world import (
    DRIFT_SECONDS,
    WRITES,
    World,
    crd,
    deployment,
    quiet,
    within,
)

pytestmark = pytest.mark.integration

RBAC = "rbac.authorization.k8s.io"
PLACEHOLDER = "Cg=="
SECONDS = 120.0


def role(name: str, **fields: Any) -> KubeObject:
    meta = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, **fields}


def writes_to(world: World, resource: str, name: str) -> int:
    """How often the account of the set wrote one object."""
    return sum(
        e["verb"] in WRITES
        and e.get("impersonatedUser", {}).get("username") == world.account
        and (e["objectRef"].get("resource"), e["objectRef"].get("name")) == (resource, name)
        for e in world.audit()
        if "objectRef" in e
    )


class TestFieldsOfControllers:
    def test_the_rules_of_an_aggregated_role_are_the_control_planes(self, world: World) -> None:
        name, label = world.namespace, f"example.com/{world.namespace}"
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
        selector = {"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]}
        aggregated = role(name, aggregationRule=selector, rules=[])
        part = role(f"{name}-part", metadata={"labels": {label: "true"}}, rules=rules)
        world.apply(world.object_set([aggregated, part]))
        world.wait("Succeeded", "True")
        path = f"/apis/{RBAC}/v1/clusterroles/{name}"
        within(SECONDS, lambda: (world.api.get(path) or {})["rules"] == rules, "it is filled in")
        quiet(world)
        assert writes_to(world, "clusterroles", name) <= 2
        assert (world.api.get(path) or {})["rules"] == rules

    def test_replicas_are_the_autoscalers_where_there_is_one(self, world: World) -> None:
        world.apply(world.object_set([deployment(world, replicas=1)]))
        world.wait("Succeeded", "True")
        path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/web"

        def replicas() -> int:
            return int((world.api.get(path) or {})["spec"]["replicas"])

        scale(world, path, 3, "kubectl")
        within(DRIFT_SECONDS, lambda: replicas() == 1, "a person's scaling is taken back")
        for wanted in (4, 5):
            scale(world, path, wanted, "kube-controller-manager")
            quiet(world)
            assert replicas() == wanted

    def test_a_place_for_a_ca_bundle_is_its_injectors(self, world: World) -> None:
        group = f"{world.namespace}.example.com"
        definition = crd(group)
        config = {"url": "https://hooks.invalid/convert", "caBundle": PLACEHOLDER}
        webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        world.apply(world.object_set([definition]))
        world.wait("Succeeded", "True")
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}"

        def bundle() -> str:
            found = (world.api.get(path) or {})["spec"]["conversion"]["webhook"]
            return str(found["clientConfig"].get("caBundle", ""))

        assert bundle() == ""
        ca = base64.b64encode(world.map("kube-root-ca.crt")["data"]["ca.crt"].encode()).decode()
        injected = {"conversion": {"webhook": {"clientConfig": {"caBundle": ca}}}}
        world.api.patch(path, {"spec": injected})
        quiet(world)
        assert bundle() == ca


CA_BUNDLE = 'go-template={{index .data "ca.crt" | base64encode}}'


def scale(world: World, path: str, replicas: int, manager: str) -> None:
    world.api.patch(f"{path}/scale?fieldManager={manager}", {"spec": {"replicas": replicas}})


@contextmanager
def rival(world: World, **data: str) -> Iterator[None]:
    """Somebody who sets fields of the settings again and again, as fast as they are restored."""
    stop = threading.Event()
    headers = {"Content-Type": "application/merge-patch+json"}

    def fight() -> None:
        with world.product.control_plane.client() as http:
            while not stop.wait(0.05):
                found = http.get(world.map_path()).json()
                if not data.items() <= (found.get("data") or {}).items():
                    path = f"{world.map_path()}?fieldManager=rival"
                    http.patch(path, json={"data": data}, headers=headers)

    thread = threading.Thread(target=fight)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class TestRival:
    def test_it_is_backed_off_from_and_reported_until_it_gives_up(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="ours", b="ours")]))
        world.wait("Succeeded", "True")
        with rival(world, a="theirs"):
            text = 'field manager "rival" keeps setting data.a'
            found = world.wait("Progressing", "True", message=text)
            verdict = condition(found, "Progressing") or {}
            assert verdict["reason"] == "Retrying"
            assert f"ConfigMap {world.namespace}/settings" in verdict["message"]
            assert "data.b" not in verdict["message"]
            assert (condition(found, "Available") or {})["status"] == "True"
            quiet(world)  # so the pauses get long
            assert writes_to(world, "configmaps", "settings") < 20
        within(SECONDS, lambda: world.map()["data"] == {"a": "ours", "b": "ours"}, "ours again")
