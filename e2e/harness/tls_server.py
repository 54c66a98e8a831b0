"""A program that serves HTTPS on a loopback port with a certificate of its own authority."""

import ssl
from abc import abstractmethod
from pathlib import Path

import httpx

from e2e.harness.binaries import Executable
from e2e.harness.controlplane import answers_ok
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.running import Running


class TlsServer(Running):
    """One of them. It forgets what it holds when it stops; port and authority stay.

    `name` is that of its files in the folder, `host` the one that its certificate is for,
    `ready` the path that answers once it serves.
    """

    name: str
    host: str
    ready: str

    def __init__(self, work_dir: Path) -> None:
        """Describe it; nothing is started, written or built yet."""
        self.work_dir = work_dir
        self.port = free_port()
        self._child: ChildProcess | None = None

    @abstractmethod
    def program(self) -> Executable:
        """What is run, found or built at its first use. Errors: BuildFailed."""

    def arguments(self) -> tuple[str, ...]:
        """Its arguments in addition to those that all take."""
        return ()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def serves(self, certificate: Path, key: Path) -> tuple[str, ...]:
        """All of its arguments, to serve with a certificate."""
        files = ("-cert", str(certificate), "-key", str(key))
        return ("-address", self.address, *files, *self.arguments())

    @property
    def url(self) -> str:
        """Where it serves."""
        return f"https://{self.host}:{self.port}"

    @property
    def ca_file(self) -> Path:
        """What to check it with; made before its start, for those who start before it."""
        self._authority()
        return self.work_dir / f"{self.name}-ca.crt"

    def start(self) -> None:
        """Start it and wait until it answers. Errors: ProcessFailed, BuildFailed."""
        pair = self._authority().issue_server(self.name, hosts=[self.host])
        self._child = ChildProcess(
            self.name,
            (*self.program().argv, *self.serves(*pair.write(self.work_dir, self.name))),
            log=self.work_dir / f"{self.name}.log",
        )
        self._child.start()
        context = ssl.create_default_context(cafile=str(self.ca_file))
        with httpx.Client(verify=context, trust_env=False) as client:
            self._child.wait_ready(lambda: answers_ok(client, self.url + self.ready))

    def stop(self) -> None:
        """Stop it. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _authority(self) -> CertificateAuthority:
        return CertificateAuthority.load_or_create(self.work_dir, f"{self.name}-ca")
