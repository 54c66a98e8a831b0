"""Real OpenID providers for tests, with people in memory: Dex, and one that ends sessions."""

import json
from collections.abc import Mapping
from pathlib import Path

import yaml

from e2e.harness.binaries import Executable, dex_binary, openid_binary
from e2e.harness.tls_server import TlsServer

CLIENT, SECRET, PASSWORD = "console", "a secret", "a password"
BCRYPT = "$2b$10$Lwb5RcJtxtVLk0whd7wEhurCdcVGlcXsKbsLeiHrJ7VE3Y5ww0/mW"
"""Of the password, at the least cost that Dex takes."""


class OpenIdProvider(TlsServer):
    """One of e2e/openid, at `localhost`, which to browsers is another site than 127.0.0.1.

    It knows one client, whose people it sends back to `redirect`, and to `left` once they have
    signed out. `people` has the mail address of each name. ID tokens last for `lifetime`.
    """

    name, host, ready = "openid", "localhost", "/.well-known/openid-configuration"
    login = "username"
    """The field for who signs in; that for the password is `password`."""

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

    def known_as(self, name: str) -> str:
        """What somebody signs in with."""
        return name

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


class Dex(OpenIdProvider):
    """Dex. It ends no sessions and takes no tokens back, so that `left` is nothing to it.

    It keeps what it knows in the `etcd` that it is given before its start. In memory it would wait
    for itself for ever as it renews a token of somebody who has a password.
    """

    name, login = "dex", "login"
    etcd: str

    def known_as(self, name: str) -> str:
        """People sign in with their mail addresses."""
        return self.people[name]

    def program(self) -> Executable:
        """Built from its module, which e2e/dex pins."""
        return dex_binary()

    def serves(self, certificate: Path, key: Path) -> tuple[str, ...]:
        """Its settings are in a file."""
        file = self.work_dir / "dex.yaml"
        web = {"https": self.address, "tlsCert": str(certificate), "tlsKey": str(key)}
        client = {"id": CLIENT, "name": CLIENT, "secret": SECRET, "redirectURIs": [self.redirect]}
        people = [
            {"userID": name, "username": name, "email": mail, "hash": BCRYPT}
            for name, mail in self.people.items()
        ]
        settings = {
            "issuer": self.issuer,
            "storage": {"type": "etcd", "config": {"endpoints": [self.etcd]}},
            "web": web,
            "oauth2": {"skipApprovalScreen": True},
            "expiry": {"idTokens": self.lifetime},
            "enablePasswordDB": True,
            "staticClients": [client],
            "staticPasswords": people,
        }
        file.write_text(yaml.safe_dump(settings))
        return ("serve", str(file))
