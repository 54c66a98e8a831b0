"""A cluster of one node: the harness's control plane and registry, and what makes pods run.

Flow: keys; registry, with the image that holds pods open; containerd; control plane; scheduler,
kubelet, kube-proxy and DNS. Only inside a box (sandbox): ports and folders are the usual ones.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from e2e.harness.binaries import Executable
from e2e.harness.components import ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.pki import CertificateAuthority
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.harness.running import Running
from e2e.node import programs, settings
from e2e.node.network import NODE_ADDRESS, NODE_NAME, SERVICE_CIDR
from e2e.node.pause import pause_image
from e2e.node.settings import NodePlaces

READY_SECONDS = 60.0


class Node(Running):
    """A cluster on which pods run; a context manager."""

    def __init__(self, work_dir: Path) -> None:
        """Describe it; nothing is started yet. The folder has to be on a real disk."""
        self.places = NodePlaces(work_dir.absolute())
        options = ControlPlaneOptions(
            authorizers=("Node", "RBAC"),
            controllers=("*",),
            service_cidr=SERVICE_CIDR,
            apiserver_args=settings.apiserver_arguments(self.places.root / "control-plane" / "pki"),
        )
        self.control_plane = ControlPlane(self.places.root / "control-plane", options=options)
        self.registry = Registry(self.places.root / "registry", host=NODE_ADDRESS)
        self._children: list[ChildProcess] = []

    def start(self) -> None:
        """Start everything and wait until the node is ready; on failure nothing is left running.

        Errors: HarnessError.
        """
        try:
            self._write_keys()
            self.registry.start()
            pause = self.registry.push(pause_image(), settings.PAUSE_REPOSITORY, tag="1")
            self._write_containerd_settings(pause.tag_reference)
            self._launch(
                "containerd",
                programs.containerd(),
                [f"--config={self.places.settings / 'containerd.toml'}"],
            )
            self.control_plane.start()
            self._start_node()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything but the pods, which the end of the box stops. Idempotent."""
        while self._children:
            self._children.pop().stop()
        self.control_plane.stop()
        self.registry.stop()

    def restart_kubelet(self) -> None:
        """As after a restart of the node, if its boot ID was changed; pods go on meanwhile."""
        [kubelet] = [child for child in self._children if child.name == "kubelet"]
        kubelet.stop()
        kubelet.start()

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as the administrator. Errors: CommandFailed."""
        return self.control_plane.kubectl(*arguments, stdin=stdin)

    def _write_keys(self) -> None:
        pki = self.control_plane.places.pki
        authority = CertificateAuthority.load_or_create(pki, "ca")
        client = authority.issue_client("kube-apiserver-kubelet-client", ["system:masters"])
        client.write(pki, "kubelet-client")
        serving = authority.issue_server(
            f"system:node:{NODE_NAME}", hosts=[NODE_NAME, NODE_ADDRESS, "127.0.0.1"]
        )
        serving.write(self.places.pki, "kubelet")
        (self.places.pki / "ca.crt").write_bytes(authority.certificate)

    def _write_containerd_settings(self, pause: str) -> None:
        self._write("containerd.toml", settings.containerd(self.places, pause))
        if self.registry.ca_file is not None:
            hosts = settings.registry_hosts(self.registry.url, self.registry.ca_file)
            self._write(f"registries/{self.registry.address}/hosts.toml", hosts)

    def _start_node(self) -> None:
        known = self.control_plane.kubeconfig_for
        kubelet = known(f"system:node:{NODE_NAME}", ["system:nodes"])
        kubeconfigs = {
            "kube-proxy": known("system:kube-proxy"),
            "coredns": self.control_plane.kubeconfig,
        }
        for name, content in settings.files(self.places, kubeconfigs).items():
            self._write(name, content)
        self.places.boot_id.write_text("first")
        configured = self.places.settings
        self._launch(
            "kube-scheduler",
            programs.kubenode("kube-scheduler"),
            settings.scheduler_arguments(known("system:kube-scheduler")),
        )
        self._launch(
            "kubelet",
            programs.kubenode("kubelet"),
            settings.kubelet_arguments(self.places, kubelet),
        )
        self._launch(
            "kube-proxy",
            programs.kubenode("kube-proxy"),
            [f"--config={configured / 'kube-proxy.yaml'}"],
        )
        self._launch("coredns", programs.coredns(), ["-conf", str(configured / "Corefile")])
        wait_until(self._is_ready, what="the node is ready", timeout=READY_SECONDS)

    def _is_ready(self) -> bool:
        for child in self._children:
            child.require_running()
        with self.control_plane.client() as client:
            found = client.get(f"/api/v1/nodes/{NODE_NAME}")
        if found.status_code != httpx.codes.OK:
            return False
        conditions: list[dict[str, Any]] = found.json()["status"].get("conditions", [])
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return ready and _answers("http://127.0.0.1:8181/ready")

    def _launch(self, name: str, program: Executable, arguments: Sequence[str]) -> None:
        child = ChildProcess(
            name, (*program.argv, *arguments), log=self.places.logs / f"{name}.log"
        )
        self._children.append(child)
        child.start()

    def _write(self, name: str, content: str | dict[str, Any]) -> None:
        path = self.places.settings / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            # The CNI library reads JSON only, which is YAML too.
            content = json.dumps(content, indent=2)
        path.write_text(content)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2.0, trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
