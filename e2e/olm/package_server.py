"""package-server as a process outside the cluster, behind the API server's proxy.

Its Service is a name for loopback: what the API server passes on reaches the process.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane, answers_ok, wait_until
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.olm.api import Api
from e2e.olm.daemons import metrics_of, start_daemon
from e2e.olm.programs import CONFIG

HOST, NAMESPACE, PROGRAM = "127.0.0.1", "olm", "package-server"
GROUP = "packages.operators.coreos.com"
API_SERVICE = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{GROUP}"


class PackageServer:
    """The program over a control plane that has the CRDs of OLM Classic."""

    def __init__(self, work_dir: Path, control_plane: ControlPlane, *flags: str) -> None:
        """Describe it, with its flags; nothing is started or written yet."""
        self.control_plane = control_plane
        self.port = free_port(HOST)
        self.metrics_port = free_port(HOST)
        self.program: ChildProcess | None = None
        self._work_dir = work_dir.absolute()
        self._health_port = free_port(HOST)
        self._flags = flags

    def __enter__(self) -> Self:
        """Install and start."""
        self.install()
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and leave no API that nobody serves: it would hold up the ends of namespaces."""
        self.stop()
        with Api(self.control_plane) as api:
            api.delete(API_SERVICE)

    def install(self) -> None:
        """Create its account, its roles, its Service and its APIService."""
        roles = CONFIG / "rbac" / "classic"
        files = (roles / "namespaces.yaml", roles / f"{PROGRAM}.yaml")
        self.control_plane.apply("\n---\n".join(file.read_text() for file in files))
        self.control_plane.apply(self._objects())

    def _objects(self) -> list[KubeObject]:
        service = {"name": PROGRAM, "namespace": NAMESPACE}
        return [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": service,
                "spec": {"type": "ExternalName", "externalName": "localhost"},
            },
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": f"v1.{GROUP}"},
                "spec": {
                    "group": GROUP,
                    "version": "v1",
                    "groupPriorityMinimum": 2000,
                    "versionPriority": 15,
                    "service": {**service, "port": self.port},
                },
            },
        ]

    def start(self, *flags: str) -> None:
        """Start the program with more flags, and wait until the API server has it."""
        kubeconfig = self.control_plane.kubeconfig_for_service_account(NAMESPACE, PROGRAM)
        self.program = start_daemon(
            PROGRAM,
            [
                f"--kubeconfig={kubeconfig}",
                f"--namespace={NAMESPACE}",
                f"--bind-address={HOST}",
                f"--secure-port={self.port}",
                f"--cert-dir={self.certificates}",
                f"--metrics-bind-address={HOST}:{self.metrics_port}",
                *self._flags,
                *flags,
            ],
            health_port=self._health_port,
            log=self._work_dir / f"{PROGRAM}.log",
        )
        with Api(self.control_plane) as api:
            api.wait_condition(API_SERVICE, "Available", "True")
        with self.control_plane.client() as client:  # the condition may be of the one before
            served = f"/apis/{GROUP}/v1"
            wait_until(lambda: answers_ok(client, served), what=f"{served} is served")

    @property
    def certificates(self) -> Path:
        """The folder of its certificate."""
        return self._work_dir / "certificates"

    def stop(self) -> None:
        """Stop the program. Idempotent."""
        if self.program is not None:
            self.program.stop()

    def restart(self, *flags: str, kill: bool = False) -> None:
        """Start it anew; with `kill` it ends by SIGKILL, as in a crash."""
        if kill and self.program is not None:
            self.program.kill()
        self.stop()
        self.start(*flags)

    def metrics(self) -> str:
        """What the program says of itself."""
        return metrics_of(self.metrics_port)
