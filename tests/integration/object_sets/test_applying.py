"""What a set applies, as whom, and what it says of content that it cannot apply."""

import json

import pytest

from api.objects import annotations_of, condition, labels_of, metadata
from api.olm.v1 import names
from e2e.olm.manifests import installer
from e2e.olm.programs import SYSTEM_NAMESPACE
from tests.integration.object_sets.world import (
    CONTROLLER,
    DRIFT_SECONDS,
    WRITES,
    World,
    crd,
    deployment,
    thing,
    within,
)

pytestmark = pytest.mark.integration


class TestApplying:
    def test_objects_are_applied_as_the_service_account_with_marks_of_their_owner(
        self, world: World
    ) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        owner = world.wait("Succeeded", "True", message="Revision succeeded rolling out.")
        world.wait("Progressing", "True", message="Revision 1 has rolled out.")
        world.wait("Available", "True", message="Objects are available and pass all probes.")
        live = world.map()
        assert live["data"] == {"a": "1"}
        assert labels_of(live) == {
            names.LABEL_OWNER_KIND: names.CLUSTER_OBJECT_SET,
            names.LABEL_OWNER_NAME: world.set_name(),
            names.LABEL_MANAGED_BY: "olm.operatorframework.io",
        }
        assert annotations_of(live) == {names.ANNOTATION_REVISION: "1"}
        [reference] = metadata(live)["ownerReferences"]
        assert reference["uid"] == owner["metadata"]["uid"]
        assert (reference["controller"], reference["blockOwnerDeletion"]) == (True, True)
        [write] = [e for e in world.requests("configmaps") if e["verb"] in WRITES]
        assert write["user"]["username"] == CONTROLLER
        assert write["impersonatedUser"]["username"] == world.account

    def test_no_managed_object_is_ever_touched_with_the_controllers_own_rights(
        self, world: World
    ) -> None:
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        asked = world.requests("configmaps")
        assert asked
        assert all("impersonatedUser" in e for e in asked)

    def test_a_custom_resource_follows_its_definition_in_a_later_phase(self, world: World) -> None:
        group = f"{world.namespace}.example.com"
        world.apply(world.object_set([crd(group)], [thing(world, group)]))
        world.wait("Succeeded", "True")
        path = f"/apis/{group}/v1/namespaces/{world.namespace}/things/one"
        assert world.api.get(path) is not None
        world.wait("Progressing", "True", message="Revision 1 has rolled out.")
        world.api.delete(path)
        within(DRIFT_SECONDS, lambda: world.api.get(path) is not None, "the resource is back")

    def test_a_definition_that_is_established_is_not_asked_for_again(self, world: World) -> None:
        group = f"{world.namespace}.example.com"
        world.apply(world.object_set([crd(group)], [world.config_map(a="1")]))
        world.wait("Succeeded", "True")

        def asked() -> int:
            found = (e.get("objectRef", {}) | {"verb": e["verb"]} for e in world.audit())
            return sum(e["verb"] == "get" and e.get("name") == f"things.{group}" for e in found)

        before = asked()
        assert before > 0
        world.api.delete(world.map_path())
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "is back")
        assert asked() == before

    def test_health_is_reported_with_the_object_that_fails(self, world: World) -> None:
        world.apply(world.object_set([deployment(world)]))
        expected = f"Deployment {world.namespace}/web: 0/1 available"
        world.wait("Available", "False", message=expected)
        world.wait("Succeeded", "True")


class TestIdentity:
    def test_a_missing_right_is_named_with_the_object_and_heals(self, world: World) -> None:
        world.revoke()
        world.apply(world.object_set([world.config_map(a="1")]))
        message = f"ConfigMap {world.namespace}/settings: configmaps is forbidden"
        found = world.wait("Progressing", "True", message=message)
        assert world.account in str(condition(found, "Progressing"))
        world.product.control_plane.apply(installer(world.namespace))
        world.wait("Succeeded", "True")

    def test_a_right_to_write_but_not_to_watch_is_enough_and_said(self, world: World) -> None:
        kubectl = world.product.control_plane.kubectl
        world.revoke()
        role = ("role", "writer", "-n", world.namespace)
        kubectl("create", *role, "--verb=get,create,patch,delete", "--resource=configmaps")
        bind = ("rolebinding", "writer", "-n", world.namespace, "--role=writer")
        kubectl("create", *bind, f"--serviceaccount={world.namespace}:installer")
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        denied = 'cannot watch ConfigMap: configmaps "settings" is forbidden'
        world.wait("Progressing", "True", message=denied)
        world.product.control_plane.apply(installer(world.namespace))
        world.api.wait(
            world.path(),
            lambda o: (
                (condition(o or {}, "Progressing") or {}).get("message")
                == "Revision 1 has rolled out."
            ),
            what="the watch runs",
        )
        world.api.delete(world.map_path())
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")

    def test_a_set_without_a_service_account_is_blocked_with_a_hint(self, world: World) -> None:
        nobody = world.object_set([world.config_map(a="1")])
        nobody["metadata"]["annotations"] = {}
        world.apply(nobody)
        found = world.wait("Progressing", "False", message="names no service account to act as")
        assert names.ANNOTATION_SERVICE_ACCOUNT_NAME in str(condition(found, "Progressing"))
        assert world.api.get(world.map_path()) is None


class TestContent:
    def test_faults_are_reported_all_at_once_and_nothing_is_applied(self, world: World) -> None:
        wrong = world.config_map("wrong")
        wrong["metadata"]["finalizers"] = ["example.com/stay"]
        twice = world.config_map("twice")
        world.apply(world.object_set([wrong, twice], [twice]))
        expected = (
            "revision validation error:\n"
            f'phase "phase-0": ConfigMap {world.namespace}/wrong: metadata.finalizers must not '
            "be set\n"
            f'phase "phase-1": ConfigMap {world.namespace}/twice: is in phase "phase-0" already'
        )
        world.wait("Progressing", "False", message=expected)
        assert world.api.get(world.map_path("twice")) is None

    def test_an_object_without_its_namespace_is_named(self, world: World) -> None:
        homeless = world.config_map()
        del homeless["metadata"]["namespace"]
        world.apply(world.object_set([homeless]))
        message = 'ConfigMap settings: ConfigMap "settings" names no namespace'
        world.wait("Progressing", "True", message=message)

    def test_a_secret_that_comes_later_is_waited_for_and_must_be_immutable(
        self, world: World
    ) -> None:
        referring = world.object_set([])
        ref = {"name": f"{world.namespace}-content", "key": "settings"}
        referring["spec"]["phases"] = [{"name": "a", "objects": [{"ref": ref}]}]
        world.apply(referring)
        missing = f'resolving ref in phase "a": Secret {SYSTEM_NAMESPACE}/{ref["name"]} not found'
        world.wait("Progressing", "True", message=missing)
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": ref["name"], "namespace": SYSTEM_NAMESPACE},
            "stringData": {"settings": json.dumps(world.config_map(a="stored"))},
        }
        world.apply(secret)
        world.wait("Progressing", "False", message="secrets are not immutable")
        world.apply({**secret, "immutable": True})
        note = {"metadata": {"annotations": {"look": "again"}}}
        world.api.patch(world.path(), note)
        world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "stored"}
