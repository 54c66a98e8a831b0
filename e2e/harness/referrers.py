"""A real registry for tests that lists what refers to an image (e2e/referrers)."""

import ssl
from pathlib import Path

import httpx

from e2e.harness.binaries import referrers_binary
from e2e.harness.controlplane import answers_ok
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.push import RegistryClient
from e2e.harness.running import Running


class ReferrersRegistry(Running):
    """One of them, at 127.0.0.1, for everybody; it forgets its content when it stops."""

    def __init__(self, work_dir: Path) -> None:
        """Describe it; nothing is started, written or built yet."""
        self.work_dir = work_dir
        self.address = f"127.0.0.1:{free_port()}"
        self._child: ChildProcess | None = None

    @property
    def ca_file(self) -> Path:
        """What to check it with; made before its start, for those who start before it."""
        CertificateAuthority.load_or_create(self.work_dir, "referrers-ca")
        return self.work_dir / "referrers-ca.crt"

    def start(self) -> None:
        """Start it and wait until it answers. Errors: ProcessFailed, BuildFailed."""
        authority = CertificateAuthority.load_or_create(self.work_dir, "referrers-ca")
        pair = authority.issue_server("referrers", hosts=["127.0.0.1"])
        certificate, key = pair.write(self.work_dir, "referrers")
        self._child = ChildProcess(
            "referrers",
            (
                *referrers_binary().argv,
                *("-address", self.address, "-cert", str(certificate), "-key", str(key)),
            ),
            log=self.work_dir / "referrers.log",
        )
        self._child.start()
        context = ssl.create_default_context(cafile=str(self.ca_file))
        with httpx.Client(verify=context, trust_env=False) as client:
            self._child.wait_ready(lambda: answers_ok(client, f"https://{self.address}/v2/"))

    def stop(self) -> None:
        """Stop it. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def client(self) -> RegistryClient:
        """A client that trusts it."""
        return RegistryClient(f"https://{self.address}", ca_file=self.ca_file)
