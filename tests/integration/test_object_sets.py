"""ClusterObjectSets as users apply them, on a real API server, by operator-controller as a process.

The process has the rights of config/rbac only and acts as the service account of each set.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from api.v1 import names
from e2e.harness.components import AuditLevel, ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api
from e2e.olm.manifests import installer
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_shared.kube_object import KubeObject, annotations_of, condition, labels_of, metadata

pytestmark = pytest.mark.integration

DRIFT_SECONDS = 10.0  # a deadline for a loaded machine; how fast it is, the benchmark tells
CONTROLLER = f"system:serviceaccount:{SYSTEM_NAMESPACE}:operator-controller-controller-manager"
WRITES = {"create", "update", "patch", "delete"}


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    options = ControlPlaneOptions(audit=AuditLevel.METADATA)
    with ControlPlane(tmp_path_factory.mktemp("audited"), options=options) as running:
        yield running


@pytest.fixture(scope="module")
def product(
    tmp_path_factory: pytest.TempPathFactory, audited: ControlPlane, registry: Registry
) -> Iterator[Olm]:
    """operator-controller alone: nothing here needs a catalog or an image."""
    olm = Olm(tmp_path_factory.mktemp("product"), audited, registry)
    olm.install()
    audited.stop_controller_manager()
    audited.start_controller_manager()
    try:
        olm.start_operator_controller()
        yield olm
    finally:
        olm.stop()


@pytest.fixture
def api(product: Olm) -> Iterator[Api]:
    with Api(product.control_plane) as api:
        yield api


@dataclass(frozen=True)
class World:
    """A namespace, and sets that act as its service account."""

    product: Olm
    api: Api
    namespace: str

    @property
    def account(self) -> str:
        return f"system:serviceaccount:{self.namespace}:installer"

    def apply(self, *objects: KubeObject) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.product.control_plane.kubectl("apply", "-f", "-", stdin=text)

    def set_name(self, name: str = "set") -> str:
        return f"{self.namespace}-{name}"

    def object_set(self, *phases: list[KubeObject], name: str = "set", **spec: Any) -> KubeObject:
        notes = {
            names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE: self.namespace,
            names.ANNOTATION_SERVICE_ACCOUNT_NAME: "installer",
        }
        return {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_OBJECT_SET,
            "metadata": {"name": self.set_name(name), "annotations": notes},
            "spec": {
                "lifecycleState": "Active",
                "revision": 1,
                "collisionProtection": "Prevent",
                "phases": [
                    {"name": f"phase-{i}", "objects": [{"object": o} for o in phase]}
                    for i, phase in enumerate(phases)
                ],
                **spec,
            },
        }

    def path(self, name: str = "set") -> str:
        return f"{OLM}/clusterobjectsets/{self.set_name(name)}"

    def wait(self, kind: str, status: str, *, name: str = "set", message: str = "") -> KubeObject:
        return self.api.wait_condition(self.path(name), kind, status, message=message, timeout=30)

    def config_map(self, name: str = "settings", **data: str) -> KubeObject:
        meta = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}

    def map_path(self, name: str = "settings") -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{name}"

    def map(self, name: str = "settings") -> KubeObject:
        found = self.api.get(self.map_path(name))
        assert found is not None
        return found

    def audit(self) -> list[dict[str, Any]]:
        return self.product.control_plane.audit_events()

    def requests(self, resource: str) -> list[dict[str, Any]]:
        """What operator-controller asked for in the namespace, by resource."""
        wanted = {"namespace": self.namespace, "resource": resource}
        return [
            e
            for e in self.audit()
            if e["user"]["username"] == CONTROLLER
            and wanted.items() <= e.get("objectRef", {}).items()
        ]


@pytest.fixture
def world(product: Olm, api: Api) -> Iterator[World]:
    namespace = f"test-{secrets.token_hex(4)}"
    kubectl = product.control_plane.kubectl
    kubectl("create", "namespace", namespace)
    kubectl("apply", "-f", "-", stdin=installer(namespace))
    yield World(product, api, namespace)
    for found in api.list(f"{OLM}/clusterobjectsets"):
        if found["metadata"]["name"].startswith(namespace):
            name = found["metadata"]["name"]  # the garbage collector may be faster
            kubectl("delete", "clusterobjectset", name, "--wait=false", "--ignore-not-found")
    kubectl("delete", "namespace", namespace, "--wait=false")
    kubectl("delete", "clusterrolebinding", f"{namespace}-installer", "--ignore-not-found")


def deployment(world: World) -> KubeObject:
    labels = {"app": "web"}
    container = {"name": "c", "image": "registry.invalid/web:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": world.namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def crd(group: str, *, scope: str = "Namespaced") -> KubeObject:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [version],
        },
    }


def thing(world: World, group: str) -> KubeObject:
    meta = {"name": "one", "namespace": world.namespace}
    return {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": meta, "size": 1}


def within(seconds: float, holds: Callable[[], bool], what: str) -> None:
    wait_until(holds, what=what, timeout=seconds)


def quiet(world: World, seconds: float = 1.0) -> None:
    """Waits until operator-controller has asked for nothing for a while."""

    def requests() -> int:
        events = world.audit()
        return sum(e["user"]["username"] == CONTROLLER for e in events if e["verb"] != "watch")

    def unchanged() -> bool:
        before = requests()
        time.sleep(seconds)
        return requests() == before

    within(20, unchanged, "no more requests")


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
        asked = [e for e in world.requests("configmaps") if e["user"]["username"] == CONTROLLER]
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

    def test_health_is_told_with_the_object_that_fails(self, world: World) -> None:
        world.apply(world.object_set([deployment(world)]))
        expected = f"Deployment {world.namespace}/web: 0/1 available"
        world.wait("Available", "False", message=expected)
        world.wait("Succeeded", "True")


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


class TestOwnership:
    def test_a_foreign_object_is_refused_and_the_set_heals_when_it_goes(self, world: World) -> None:
        world.apply(world.config_map(a="theirs"))
        world.apply(world.object_set([world.config_map(a="ours")]))
        message = (
            f"ConfigMap 'settings' already exists in namespace '{world.namespace}' "
            "and cannot be managed by operator-controller"
        )
        world.wait("Progressing", "True", message=message)
        assert world.map()["data"] == {"a": "theirs"}
        world.api.delete(world.map_path())
        world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "ours"}

    @pytest.mark.parametrize("policy", ["IfNoController", "None"])
    def test_a_foreign_object_is_adopted_where_the_policy_says_so(
        self, world: World, policy: str
    ) -> None:
        world.apply(world.config_map(a="theirs", b="theirs"))
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection=policy))
        world.wait("Succeeded", "True")
        assert world.map()["data"] == {"a": "ours", "b": "theirs"}

    def test_a_controlled_object_is_taken_over_only_with_policy_none(self, world: World) -> None:
        root = world.config_map("root")
        world.apply(root)
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "root",
            "uid": metadata(world.map("root"))["uid"],
            "controller": True,
        }
        theirs = world.config_map(a="theirs")
        theirs["metadata"]["ownerReferences"] = [reference]
        world.apply(theirs)
        careful = world.object_set(
            [world.config_map(a="ours")], name="careful", collisionProtection="IfNoController"
        )
        world.apply(careful)
        world.wait("Progressing", "True", name="careful", message="controlled by ConfigMap 'root'")
        world.product.control_plane.kubectl("delete", "clusterobjectset", world.set_name("careful"))
        world.apply(world.object_set([world.config_map(a="ours")], collisionProtection="None"))
        world.wait("Succeeded", "True")
        live = world.map()
        assert live["data"] == {"a": "ours"}
        controllers = {r["name"]: r["controller"] for r in metadata(live)["ownerReferences"]}
        assert controllers == {"root": False, world.set_name(): True}

    def test_of_two_sets_that_claim_an_object_exactly_one_has_it(self, world: World) -> None:
        pair = ("left", "right")
        world.apply(*(world.object_set([world.config_map(a=name)], name=name) for name in pair))

        def verdicts() -> dict[str, str]:
            found = {name: world.api.get(world.path(name)) for name in pair}
            return {
                name: (condition(obj, "Progressing") or {}).get("reason", "") if obj else ""
                for name, obj in found.items()
            }

        within(20, lambda: sorted(verdicts().values()) == ["Retrying", "Succeeded"], "one has it")
        winner = next(name for name, reason in verdicts().items() if reason == "Succeeded")
        loser = next(name for name in pair if name != winner)
        assert world.map()["data"] == {"a": winner}
        owner = f"it belongs to ClusterObjectSet '{world.set_name(winner)}'"
        world.wait("Progressing", "True", name=loser, message=owner)
        world.product.control_plane.kubectl("delete", "clusterobjectset", world.set_name(winner))
        world.wait("Succeeded", "True", name=loser)
        within(10, lambda: world.map()["data"] == {"a": loser}, "the other has it now")


class TestIdentity:
    def test_a_missing_right_is_named_with_the_object_and_heals(self, world: World) -> None:
        binding = f"{world.namespace}-installer"
        world.product.control_plane.kubectl("delete", "clusterrolebinding", binding)
        world.apply(world.object_set([world.config_map(a="1")]))
        message = f"ConfigMap {world.namespace}/settings: configmaps is forbidden"
        found = world.wait("Progressing", "True", message=message)
        assert world.account in str(condition(found, "Progressing"))
        world.product.control_plane.kubectl("apply", "-f", "-", stdin=installer(world.namespace))
        world.wait("Succeeded", "True")

    def test_a_right_to_write_but_not_to_watch_is_enough_and_said(self, world: World) -> None:
        kubectl = world.product.control_plane.kubectl
        kubectl("delete", "clusterrolebinding", f"{world.namespace}-installer")
        role = ("role", "writer", "-n", world.namespace)
        kubectl("create", *role, "--verb=get,create,patch,delete", "--resource=configmaps")
        bind = ("rolebinding", "writer", "-n", world.namespace, "--role=writer")
        kubectl("create", *bind, f"--serviceaccount={world.namespace}:installer")
        begun = time.monotonic()
        world.apply(world.object_set([world.config_map(a="1")]))
        world.wait("Succeeded", "True")
        assert time.monotonic() - begun < 4  # nobody waits for a watch that is denied
        world.wait("Progressing", "True", message="cannot watch ConfigMap: configmaps is forbidden")
        kubectl("apply", "-f", "-", stdin=installer(world.namespace))
        world.api.wait(
            world.path(),
            lambda o: (
                (condition(o or {}, "Progressing") or {}).get("message")
                == "Revision 1 has rolled out."
            ),
            what="the watch runs",
            timeout=30,
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
    def test_faults_are_told_all_at_once_and_nothing_is_applied(self, world: World) -> None:
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


class TestLife:
    def test_archiving_removes_the_objects_and_says_so(self, world: World) -> None:
        world.apply(world.object_set([world.config_map("one")], [world.config_map("two")]))
        world.wait("Succeeded", "True")
        world.api.patch(world.path(), {"spec": {"lifecycleState": "Archived"}})
        found = world.wait("Progressing", "False", message="revision is archived")
        assert (condition(found, "Progressing") or {})["reason"] == "Archived"
        world.wait("Available", "Unknown", message="revision is archived")
        assert world.api.get(world.map_path("one")) is None
        assert world.api.get(world.map_path("two")) is None

    def test_deleting_removes_the_objects(self, world: World) -> None:
        world.apply(world.object_set([world.config_map("one")]))
        world.wait("Succeeded", "True")
        world.api.delete(world.path())
        world.api.wait_gone(world.path(), timeout=20)
        world.api.wait_gone(world.map_path("one"), timeout=20)

    def test_a_kill_in_the_middle_of_a_rollout_leaves_nothing_to_mend(self, world: World) -> None:
        maps = [world.config_map(f"m{i:02}", n=str(i)) for i in range(40)]
        world.apply(world.object_set(*([maps[i : i + 4] for i in range(0, 40, 4)])))
        world.api.wait(world.map_path("m08"), lambda o: o is not None, what="the third phase")
        world.product.kill(world.product.operator_controller)
        left = len(world.api.list(f"/api/v1/namespaces/{world.namespace}/configmaps"))
        world.product.start_operator_controller()
        world.wait("Succeeded", "True")
        found = world.api.list(
            f"/api/v1/namespaces/{world.namespace}/configmaps",
            f"{names.LABEL_OWNER_NAME}={world.set_name()}",
        )
        assert len(found) == 40
        assert left < 41, "the kill came too late to prove anything"

    def test_a_steady_state_makes_no_requests_at_all(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1"), deployment(world)]))
        world.wait("Succeeded", "True")
        quiet(world)
        before = len(world.audit())
        time.sleep(3.0)
        asked = [e for e in world.audit()[before:] if e["user"]["username"] == CONTROLLER]
        assert [(e["verb"], e["requestURI"]) for e in asked] == []

    def test_a_restart_writes_nothing_to_what_is_as_it_should_be(self, world: World) -> None:
        world.apply(world.object_set([world.config_map(a="1"), deployment(world)]))
        world.wait("Succeeded", "True")
        quiet(world)
        kept = metadata(world.map())["resourceVersion"]
        status = metadata(world.api.get(world.path()) or {})["resourceVersion"]
        world.product.kill(world.product.operator_controller)
        world.product.start_operator_controller()
        quiet(world)
        world.api.delete(world.map_path())  # it looks after it again
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")
        assert metadata(world.map())["resourceVersion"] != kept
        assert metadata(world.api.get(world.path()) or {})["resourceVersion"] == status


class TestRevisions:
    """Two sets of one extension, as the extension's controller makes them."""

    @pytest.fixture
    def reference(self, world: World) -> dict[str, Any]:
        """An owner reference to an extension that no catalog offers anything for."""
        catalog = {"packageName": world.namespace}
        extension = {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_EXTENSION,
            "metadata": {"name": world.namespace},
            "spec": {
                "namespace": world.namespace,
                "serviceAccount": {"name": "installer"},
                "source": {"sourceType": "Catalog", "catalog": catalog},
            },
        }
        world.apply(extension)
        found = world.api.get(f"{OLM}/clusterextensions/{world.namespace}")
        assert found is not None
        return {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_EXTENSION,
            "name": world.namespace,
            "uid": found["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def revision(
        self, world: World, reference: dict[str, Any], number: int, *maps: str
    ) -> KubeObject:
        found = world.object_set(
            [world.config_map(name, n=str(number)) for name in maps],
            name=str(number),
            revision=number,
        )
        found["metadata"]["ownerReferences"] = [reference]
        found["metadata"]["labels"] = {
            names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION,
            names.LABEL_OWNER_NAME: world.namespace,
        }
        return found

    def test_a_newer_one_takes_over_and_the_older_removes_only_what_is_left(
        self, world: World, reference: dict[str, Any]
    ) -> None:
        world.apply(self.revision(world, reference, 1, "old", "kept"))
        world.wait("Succeeded", "True", name="1")
        kept = metadata(world.map("kept"))["uid"]
        world.apply(self.revision(world, reference, 2, "kept", "new"))
        world.wait("Succeeded", "True", name="2")
        world.wait("Progressing", "False", name="1", message="revision is archived")
        assert world.api.get(world.map_path("old")) is None
        assert world.map("new")["data"] == {"n": "2"}
        live = world.map("kept")
        assert metadata(live)["uid"] == kept
        assert live["data"] == {"n": "2"}
        assert labels_of(live)[names.LABEL_OWNER_KIND] == names.CLUSTER_EXTENSION
        world.product.control_plane.kubectl("delete", "clusterextension", world.namespace)

    def test_what_a_slow_older_one_wrote_last_is_not_removed_with_it(
        self, world: World, reference: dict[str, Any]
    ) -> None:
        world.apply(self.revision(world, reference, 1, "kept"))
        world.wait("Succeeded", "True", name="1")
        uid = metadata(world.map("kept"))["uid"]
        world.product.kill(world.product.operator_controller)
        archived = self.revision(world, reference, 1, "kept")
        archived["spec"]["lifecycleState"] = "Archived"
        world.apply(archived, self.revision(world, reference, 2, "kept"))
        assert annotations_of(world.map("kept"))[names.ANNOTATION_REVISION] == "1"
        world.product.start_operator_controller()
        world.wait("Progressing", "False", name="1", message="revision is archived")
        world.wait("Succeeded", "True", name="2")
        assert metadata(world.map("kept"))["uid"] == uid
        assert world.map("kept")["data"] == {"n": "2"}
        world.product.control_plane.kubectl("delete", "clusterextension", world.namespace)


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
        within(20, lambda: world.api.get(world.map_path()) is not None, "it is back")
        world.wait("Progressing", "True", message="Revision 1 has rolled out.")
        quiet(world)
        world.api.delete(world.map_path())
        within(DRIFT_SECONDS, lambda: world.api.get(world.map_path()) is not None, "it is back")
