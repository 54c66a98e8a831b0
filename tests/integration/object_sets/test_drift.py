"""What others change is changed back, what users add stays, and an outage hides nothing."""

import time
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, labels_of, metadata
from api.olm.v1 import names
from tests.integration.object_sets.world import (
    DRIFT_SECONDS,
    WRITES,
    World,
    deployment,
    quiet,
    within,
)

pytestmark = pytest.mark.integration


class TestDrift:
    def test_what_is_deleted_is_back(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1"), deployment(world)]))
        world.wait("Succeeded", "True")
        web = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/web"
        for path in (world.map_path(), web):
            old = world.api.get(path)
            assert old is not None
            world.api.delete(path)

            def is_new(path: str = path, old: KubeObject = old) -> bool:
                found = world.api.get(path)
                return found is not None and found["metadata"]["uid"] != old["metadata"]["uid"]

            within(DRIFT_SECONDS, is_new, f"{path} is back")

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            pytest.param({"data": {"a": "2"}}, ("data", "a", "1"), id="its content"),
            pytest.param({"data": {"a": None}}, ("data", "a", "1"), id="a field that was removed"),
            pytest.param(
                {"metadata": {"labels": {names.LABEL_OWNER_NAME: None}}},
                ("labels", names.LABEL_OWNER_NAME, ""),
                id="the label that it is found by",
            ),
            pytest.param(
                {"metadata": {"annotations": {names.ANNOTATION_REVISION: "7"}}},
                ("annotations", names.ANNOTATION_REVISION, "1"),
                id="the annotation of its revision",
            ),
        ],
    )
    def test_what_is_changed_is_changed_back(
        self, world: World, change: dict[str, Any], field: tuple[str, str, str]
    ) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        part, key, value = field
        value = value or world.set_name()

        def restored() -> bool:
            live = world.map()
            values = live.get("data") or {} if part == "data" else metadata(live).get(part) or {}
            return bool(values.get(key) == value)

        assert restored()
        for _ in range(2):  # also when it has been restored once
            world.api.patch(world.map_path(), change)
            within(DRIFT_SECONDS, restored, f"{part} {key} is {value}")

    def test_what_users_add_survives_and_costs_no_write(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        added = {"labels": {"team": "red"}, "annotations": {"note": "mine"}}
        world.api.patch(world.map_path(), {"metadata": added, "data": {"b": "theirs"}})
        quiet(world)
        [creation] = [e for e in world.requests("configmaps") if e["verb"] in WRITES]
        assert creation["verb"] == "create"
        world.api.patch(world.map_path(), {"data": {"a": "2"}})
        within(DRIFT_SECONDS, lambda: world.map()["data"]["a"] == "1", "ours is restored")
        live = world.map()
        assert labels_of(live)["team"] == "red"
        assert annotations_of(live)["note"] == "mine"
        assert live["data"] == {"a": "1", "b": "theirs"}

    def test_replicas_that_an_autoscaler_sets_survive(self, world: World) -> None:
        scaled = deployment(world)
        del scaled["spec"]["replicas"]
        world.apply(world.object_set([scaled]))
        world.wait("Succeeded", "True")
        path = f"/apis/apps/v1/namespaces/{world.namespace}/deployments/web"
        world.api.patch(f"{path}/scale", {"spec": {"replicas": 3}})
        container = {"name": "c", "image": "registry.invalid/other:1"}
        world.api.patch(path, {"spec": {"template": {"spec": {"containers": [container]}}}})

        def image() -> str:
            found = world.api.get(path) or {}
            return str(found["spec"]["template"]["spec"]["containers"][0]["image"])

        within(DRIFT_SECONDS, lambda: image() == "registry.invalid/web:1", "ours is restored")
        quiet(world)
        assert (world.api.get(path) or {})["spec"]["replicas"] == 3

    def test_a_restart_by_a_user_survives(self, world: World) -> None:
        world.apply(world.object_set([deployment(world)]))
        world.wait("Succeeded", "True")
        kubectl = world.product.control_plane.kubectl
        kubectl("rollout", "restart", "deployment/web", "-n", world.namespace)
        quiet(world)
        found = world.api.get(f"/apis/apps/v1/namespaces/{world.namespace}/deployments/web")
        assert found is not None
        notes = found["spec"]["template"]["metadata"]["annotations"]
        assert "kubectl.kubernetes.io/restartedAt" in notes


class TestOutage:
    def test_what_happens_while_no_watch_runs_is_found_afterwards(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        quiet(world)
        cluster = world.product.control_plane
        cluster.stop_apiserver()
        time.sleep(3.0)  # long enough for the watch to notice and to fail more than once
        cluster.start_apiserver()
        world.api.delete(world.map_path())
        within(60, lambda: world.api.get(world.map_path()) is not None, "it is back")
        world.wait("Progressing", "True", message="Revision 1 has rolled out.")
        quiet(world)
        world.api.delete(world.map_path())
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")
