"""cluster-version-operator as a process outside the cluster, and the operators of a product.

with ClusterUpdates(folder, control_plane) as cluster:
    cluster.start(ReleaseSpec("1.0.0"))
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")
"""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from api.objects import KubeObject, condition
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.errors import log_tail
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm import releases
from e2e.olm.api import PATIENCE_SECONDS, Api
from e2e.olm.daemons import HOST, metrics_of, start_daemon
from e2e.olm.programs import CONFIG, DEFINITIONS
from e2e.olm.releases import COMPONENTS, ReleaseSpec

PROGRAM = "cluster-version-operator"
NAMESPACE = "openshift-cluster-version"
API = "/apis/config.openshift.io/v1"
CLUSTER_VERSION = f"{API}/clusterversions/version"
OPERATORS = f"{API}/clusteroperators"
CLUSTER_ID = "11111111-2222-4333-8444-555555555555"
DEFINITION = f"{DEFINITIONS}/things.{releases.GROUP}"
ROUND_SECONDS = 2
NEW: dict[str, Any] = {
    "desired": {"version": "", "image": ""},
    "observedGeneration": 0,
    "versionHash": "",
    "availableUpdates": None,
}
"""What a status must have."""
WELL = {"Available": "True", "Progressing": "False", "Degraded": "False", "Upgradeable": "True"}


class Release(Protocol):
    """What the operator is started with."""

    @property
    def version(self) -> str:
        """Of the release."""

    def write(self, folder: Path, /) -> Path:
        """Lays the content of the image out, in this folder unless it is somewhere; the folder."""


class ClusterUpdates:
    """The operator over a control plane that serves its kinds, and what the components report."""

    def __init__(self, work_dir: Path, control_plane: ControlPlane, registry: Registry) -> None:
        """Describe it; nothing is started or written yet."""
        self.control_plane = control_plane
        self.registry = registry
        self.work_dir = work_dir.absolute()
        self.api = Api(control_plane)
        self.metrics_port = free_port(HOST)
        self.program: ChildProcess | None = None
        self.log = self.work_dir / "logs" / f"{PROGRAM}.log"
        self._health_port = free_port(HOST)
        self._command: tuple[Release, str, tuple[str, ...]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.api.__exit__(kind, error, trace)

    def install(self, **spec: Any) -> None:
        """Create the CRDs that are not there, and the ClusterVersion, with more in its spec."""
        for file in (CONFIG / "crd" / "cluster-version").iterdir():
            group, plural = file.stem.split("_")
            if self.api.get(f"{DEFINITIONS}/{plural}.{group}") is None:
                self.control_plane.apply(file)
        version = {
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "spec": {"clusterID": CLUSTER_ID, **spec},
        }
        self.control_plane.apply(json.dumps(version))

    def clear(self) -> None:
        """Delete what releases brought, and make the ClusterVersion new; namespaces stay, empty."""
        self.stop()
        spec = dict.fromkeys(self.version["spec"], None)
        self.api.patch(CLUSTER_VERSION, {"spec": {**spec, "clusterID": CLUSTER_ID}})
        self.api.replace(f"{CLUSTER_VERSION}/status", {**self.version, "status": NEW})
        self.api.delete(OPERATORS)
        for kind in ("/api/v1/namespaces/{}/configmaps", "/apis/apps/v1/namespaces/{}/deployments"):
            for namespace in (NAMESPACE, releases.NAMESPACE):
                self.api.delete(kind.format(namespace))
        if self.api.get(DEFINITION) is not None:
            self.api.delete(DEFINITION)
            self.api.wait_gone(DEFINITION)

    def start(self, release: Release, *flags: str, image: str = "") -> None:
        """Start the operator that a release comes with, and wait until it is ready."""
        image = image or f"example.com/release@sha256:{release.version}"
        self._command = release, image, flags
        folder = release.write(self.work_dir / f"release-{release.version}")
        authorities = self.work_dir / "registry-cas"
        authorities.mkdir(parents=True, exist_ok=True)
        if self.registry.ca_file is not None:
            shutil.copyfile(self.registry.ca_file, authorities / "registry.crt")
        self.program = start_daemon(
            PROGRAM,
            [
                f"--kubeconfig={self.control_plane.kubeconfig}",
                f"--release-image={image}",
                f"--payload-override={folder}",
                f"--payloads={self.work_dir / 'payloads'}",
                "--retrieve-by=registry",
                f"--pull-cas-dir={authorities}",
                f"--round-interval={ROUND_SECONDS}s",
                *("--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=10s"),
                "--leader-elect-retry-period=2s",  # else who follows a killed one waits two minutes
                f"--metrics-bind-address={HOST}:{self.metrics_port}",
                *flags,
            ],
            health_port=self._health_port,
            log=self.log,
        )

    def begin(self, release: ReleaseSpec) -> None:
        """Install the cluster by a release from the registry, and wait until it is level."""
        self.start(release, image=release.publish(self.registry))
        self.report(release.version)
        self.wait_level(release.version)

    def stop(self) -> None:
        """Stop the operator. Idempotent."""
        if self.program is not None:
            self.program.stop()

    def kill(self) -> None:
        """End it by SIGKILL, as in a crash."""
        assert self.program is not None
        self.program.kill()

    def restart(self) -> None:
        """Start it as before."""
        assert self._command is not None
        release, image, flags = self._command
        self.stop()
        self.start(release, *flags, image=image)

    def report(
        self,
        version: str,
        components: Iterable[str] = COMPONENTS,
        message: str = "",
        **conditions: str,
    ) -> None:
        """Have operators of components report their version and conditions, well unless said."""
        common = {"message": message, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        reported = [
            {"type": kind, "status": status, **common}
            for kind, status in {**WELL, **conditions}.items()
        ]
        status = {"conditions": reported, "versions": [{"name": "operator", "version": version}]}
        for component in components:
            path = f"{OPERATORS}/{component}"
            self.api.wait(path, lambda found: found is not None, what=path)
            self.api.patch(f"{path}/status", {"status": status})

    def metrics(self) -> str:
        """What the operator says of itself."""
        return metrics_of(self.metrics_port)

    @property
    def version(self) -> KubeObject:
        """The ClusterVersion."""
        found = self.api.get(CLUSTER_VERSION)
        assert found is not None
        return found

    def condition(self, kind: str) -> tuple[str, str, str]:
        """Status, reason and message of a condition of the ClusterVersion."""
        found = condition(self.version, kind) or {}
        status, reason, message = (found.get(key, "") for key in ("status", "reason", "message"))
        return status, reason, message

    def wait_condition(
        self, kind: str, status: str, text: str = "", *, timeout: float = PATIENCE_SECONDS
    ) -> str:
        """Wait until a condition has a status, and a message with a text in it; the message."""

        found = ("", "", "")

        def is_met() -> bool:
            nonlocal found
            found = self.condition(kind)
            return found[0] == status and text in found[2]

        try:
            wait_until(is_met, what=f"{kind}={status} {text}", timeout=timeout)
        except TimeoutError as error:
            error.add_note(f"it is {found}; the end of {self.log}:\n{log_tail(self.log)}")
            raise
        return found[2]

    def wait_level(self, version: str, *, timeout: float = PATIENCE_SECONDS) -> None:
        """Wait until a release is applied completely."""
        self.wait_condition(
            "Progressing", "False", f"Cluster version is {version}", timeout=timeout
        )

    def ask(self, **desired: Any) -> None:
        """Ask for an update; nothing to take the request back."""
        self.api.patch(CLUSTER_VERSION, {"spec": {"desiredUpdate": desired or None}})
