"""catalogd and operator-controller as processes outside the cluster, with their own rights only.

Each runs with a token of its own service account and the roles of config/rbac, so a right that is
missing there is noticed here.
"""

import shutil
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from e2e.harness.client import PATIENCE_SECONDS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.kubeconfig import Endpoint
from e2e.harness.machine import Machine
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.registry import Registry
from e2e.olm.api import Api
from e2e.olm.daemons import start_daemon

CONFIG = Path(__file__).parents[2] / "config"
SYSTEM_NAMESPACE = "olmv1-system"
HOST = "127.0.0.1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Olm:
    """Both programs over a control plane and a registry; any of them may be killed and started."""

    def __init__(
        self,
        work_dir: Path,
        control_plane: ControlPlane,
        registry: Registry,
        *,
        programs: Mapping[str, str] | None = None,
    ) -> None:
        """Describe them; nothing is started or written yet.

        `programs` are paths of programs by name, to run in place of ours.
        """
        self._programs = programs or {}
        self.work_dir = work_dir.absolute()
        self.control_plane = control_plane
        self.registry = registry
        self.catalogd: ChildProcess | None = None
        self.operator_controller: ChildProcess | None = None
        self.api_for_operator_controller: Endpoint | None = None
        """What operator-controller reaches the API server through, if not directly."""
        self.environment: Mapping[str, str] = {}
        """Variables for both programs."""
        self.machine: Machine | None = None
        """What operator-controller runs on, if that is to go wrong."""
        self._catalogs_port = free_port(HOST)
        self.health_ports = free_port(HOST), free_port(HOST)
        """Where catalogd and operator-controller answer probes."""

    def __enter__(self) -> Self:
        """Install and start."""
        self.install()
        try:
            self.start_catalogd()
            self.start_operator_controller()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    @property
    def catalogs_url(self) -> str:
        """Where catalogd serves."""
        return f"https://{HOST}:{self._catalogs_port}"

    @property
    def catalogs_ca(self) -> Path:
        """The certificate to check catalogd with."""
        return self.work_dir / "catalogd-cas" / "ca.crt"

    @property
    def registry_cas(self) -> Path:
        """The folder of CAs that both programs trust for registries, read at each pull."""
        return self.work_dir / "registry-cas"

    def install(self) -> None:
        """Create the CRDs, the namespace, the accounts and their roles, and the certificates."""
        definitions = sorted((CONFIG / "crd").glob("*.yaml"))
        roles = sorted((CONFIG / "rbac").glob("*.yaml"))
        files = (*definitions, CONFIG / "rbac" / "namespace.yaml", *roles)
        self.control_plane.apply("\n---\n".join(file.read_text() for file in files))
        with Api(self.control_plane) as api:
            for definition in definitions:
                group, plural = definition.stem.split("_")
                api.wait_condition(f"{DEFINITIONS}/{plural}.{group}", "Established", "True")
        authority = CertificateAuthority.load_or_create(self.work_dir / "pki", "ca")
        pair = authority.issue_server("catalogd", hosts=["localhost", HOST])
        pair.write(self.work_dir / "pki", "catalogd")
        self.catalogs_ca.parent.mkdir(parents=True, exist_ok=True)
        self.catalogs_ca.write_bytes(authority.certificate)
        self.registry_cas.mkdir(parents=True, exist_ok=True)
        if self.registry.ca_file is not None:
            shutil.copyfile(self.registry.ca_file, self.registry_cas / "registry.crt")

    def start_catalogd(self, *extra: str) -> None:
        """Start catalogd and wait until it is ready."""
        self.catalogd = self._start(
            "catalogd",
            "catalogd-controller-manager",
            self.health_ports[0],
            [
                f"--catalogs-server-addr={HOST}:{self._catalogs_port}",
                f"--external-address={HOST}:{self._catalogs_port}",
                f"--tls-cert={self.work_dir / 'pki' / 'catalogd.crt'}",
                f"--tls-key={self.work_dir / 'pki' / 'catalogd.key'}",
                f"--cache-dir={self.work_dir / 'catalogd'}",
                f"--webhook-server-port={free_port(HOST)}",
                "--metrics-bind-address=0",
                *extra,
            ],
        )

    def start_operator_controller(self, *extra: str) -> None:
        """Start operator-controller and wait until it is ready."""
        machine = self.machine
        cache = machine.disk if machine else self.work_dir / "operator-controller"
        self.operator_controller = self._start(
            "operator-controller",
            "operator-controller-controller-manager",
            self.health_ports[1],
            [
                f"--catalogd-cas-dir={self.catalogs_ca.parent}",
                f"--cache-path={cache}",
                *extra,
            ],
            via=self.api_for_operator_controller,
            environment=machine.environment if machine else {},
        )

    def stop_operator_controller(self) -> None:
        """End operator-controller in good order, so that it can be started with other flags."""
        if self.operator_controller is not None:
            self.operator_controller.stop()

    def stop(self) -> None:
        """Stop both. Idempotent."""
        for child in (self.operator_controller, self.catalogd):
            if child is not None:
                child.stop()

    def kill(self, child: ChildProcess | None) -> None:
        """End a program with SIGKILL, as a crash would."""
        if child is not None:
            child.kill()

    def _start(
        self,
        program: str,
        account: str,
        health_port: int,
        arguments: Sequence[str],
        *,
        via: Endpoint | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ChildProcess:
        kubeconfig = self.control_plane.kubeconfig_for_service_account(
            SYSTEM_NAMESPACE, account, via=via
        )
        return start_daemon(
            program,
            [
                f"--kubeconfig={kubeconfig}",
                f"--system-namespace={SYSTEM_NAMESPACE}",
                f"--pull-cas-dir={self.registry_cas}",
                *arguments,
            ],
            health_port=health_port,
            log=self.work_dir / "logs" / f"{program}.log",
            executable=self._programs.get(program, ""),
            environment={**self.environment, **(environment or {})},
        )

    def client(self) -> httpx.Client:
        """An HTTP client for catalogd that checks its certificate."""
        context = ssl.create_default_context(cafile=str(self.catalogs_ca))
        return httpx.Client(
            base_url=self.catalogs_url, verify=context, trust_env=False, timeout=PATIENCE_SECONDS
        )
