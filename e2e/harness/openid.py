"""A real OpenID provider for tests, with people in memory (e2e/openid)."""

import json
from collections.abc import Mapping
from pathlib import Path

from e2e.harness.binaries import Executable, openid_binary
from e2e.harness.tls_server import TlsServer

CLIENT, SECRET, PASSWORD = "console", "a secret", "a password"


class OpenIdProvider(TlsServer):
    """One of them, at `localhost`, which to browsers is another site than 127.0.0.1.

    It knows one client, whose people it sends back to `redirect`, and to `left` once they have
    signed out. `people` has the mail address of each name. ID tokens last for `lifetime`.
    """

    name, host, ready = "openid", "localhost", "/.well-known/openid-configuration"

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
        super().__init__(work_dir)
        self.redirect = redirect
        self.left = left
        self.people = people
        self.lifetime = lifetime

    @property
    def issuer(self) -> str:
        """Its name and address."""
        return self.url

    @property
    def secret_file(self) -> Path:
        """The secret of its client."""
        file = self.work_dir / "secret"
        file.write_text(f"{SECRET}\n")
        return file

    def program(self) -> Executable:
        """Built from e2e/openid."""
        return openid_binary()

    def arguments(self) -> tuple[str, ...]:
        """Its name, its people and its client."""
        users = self.work_dir / "users.json"
        users.write_text(json.dumps({name: self._user(name) for name in self.people}))
        return (
            *("-issuer", self.issuer, "-users", str(users)),
            *("-client", CLIENT, "-secret", SECRET, "-redirect", self.redirect),
            *("-left", self.left, "-lifetime", self.lifetime),
        )

    def _user(self, name: str) -> dict[str, object]:
        return {
            "ID": name,
            "Username": name,
            "Password": PASSWORD,
            "Email": self.people[name],
            "EmailVerified": True,
        }
