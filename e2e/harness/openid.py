"""A real OpenID provider for tests, with people in memory (e2e/openid)."""

import json
import ssl
from collections.abc import Mapping
from pathlib import Path

import httpx

from e2e.harness.binaries import openid_binary
from e2e.harness.controlplane import answers_ok
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.harness.running import Running

CLIENT, SECRET, PASSWORD = "console", "a secret", "a password"


class OpenIdProvider(Running):
    """One of them, at `localhost`, which to browsers is another site than 127.0.0.1.

    It knows one client, whose people it sends back to `redirect`, and to `left` once they have
    signed out. `people` has the mail address of each name. ID tokens last for `lifetime`.
    """

    def __init__(
        self,
        work_dir: Path,
        *,
        redirect: str,
        left: str,
        people: Mapping[str, str],
        lifetime: str = "1h",
    ) -> None:
        """Describe it; nothing is started, written or built yet."""
        self.work_dir = work_dir
        self.redirect = redirect
        self.left = left
        self.people = people
        self.lifetime = lifetime
        self.port = free_port()
        self._child: ChildProcess | None = None

    @property
    def issuer(self) -> str:
        """Its name and address."""
        return f"https://localhost:{self.port}"

    @property
    def ca_file(self) -> Path:
        """What to check it with; made before its start, for those who start before it."""
        CertificateAuthority.load_or_create(self.work_dir, "openid-ca")
        return self.work_dir / "openid-ca.crt"

    @property
    def secret_file(self) -> Path:
        """The secret of its client."""
        file = self.work_dir / "secret"
        file.write_text(f"{SECRET}\n")
        return file

    def start(self) -> None:
        """Start it and wait until it answers. Errors: ProcessFailed, BuildFailed."""
        authority = CertificateAuthority.load_or_create(self.work_dir, "openid-ca")
        pair = authority.issue_server("openid", hosts=["localhost"])
        certificate, key = pair.write(self.work_dir, "openid")
        users = self.work_dir / "users.json"
        users.write_text(json.dumps({name: self._user(name) for name in self.people}))
        self._child = ChildProcess(
            "openid",
            (
                *openid_binary().argv,
                *("-address", f"127.0.0.1:{self.port}", "-issuer", self.issuer),
                *("-cert", str(certificate), "-key", str(key), "-users", str(users)),
                *("-client", CLIENT, "-secret", SECRET, "-redirect", self.redirect),
                *("-left", self.left, "-lifetime", self.lifetime),
            ),
            log=self.work_dir / "openid.log",
        )
        self._child.start()
        context = ssl.create_default_context(cafile=str(self.ca_file))
        with httpx.Client(verify=context, trust_env=False) as client:
            address = f"{self.issuer}/.well-known/openid-configuration"
            self._child.wait_ready(lambda: answers_ok(client, address))

    def stop(self) -> None:
        """Stop it; it forgets all that it has given out. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _user(self, name: str) -> dict[str, object]:
        return {
            "ID": name,
            "Username": name,
            "Password": PASSWORD,
            "Email": self.people[name],
            "EmailVerified": True,
        }
