"""A real OCI registry for tests: TLS by default, with passwords or tokens when asked for."""

import base64
import json
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import yaml

from e2e.harness.binaries import Executable, registry_binary
from e2e.harness.images import Image, ImageIndex
from e2e.harness.pki import CertificateAuthority, write_private
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess, service_environment
from e2e.harness.push import Credentials, Published, RegistryClient
from e2e.harness.running import Running
from e2e.harness.tokens import ISSUER, SERVICE, TokenService

DEFAULT_HOST = "127.0.0.1"
BCRYPT_ROUNDS = 4  # the fewest that bcrypt takes: every request pays for them

_ACCESS = re.compile(
    r'^\S+ \S+ \S+ \[[^]]*\] "(?P<method>[A-Z]+) (?P<target>\S+) [^"]*"'
    r' (?P<status>\d{3}) \S+ "[^"]*" "(?P<agent>[^"]*)"'
)


@dataclass(frozen=True, slots=True)
class PasswordAuth:
    """Every request needs this password (HTTP basic authentication)."""

    credentials: Credentials = Credentials("user", "password")  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class TokenAuth:
    """Every request needs a token from a token service, which asks for this password.

    `host` is where the token service listens; another one than the registry's shows whether
    credentials go where they should not.
    """

    credentials: Credentials = Credentials("user", "password")  # noqa: RUF009 - frozen
    anonymous_pull: bool = False
    host: str = DEFAULT_HOST


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request that the registry has answered."""

    method: str
    target: str
    status: int
    agent: str


class Registry(Running):
    """One registry with its content in a folder; start, stop and start again keep both and port.

    `stop` leaves no process and no open port.
    """

    def __init__(
        self,
        work_dir: Path,
        *,
        host: str = DEFAULT_HOST,
        tls: bool = True,
        auth: PasswordAuth | TokenAuth | None = None,
        executable: Executable | None = None,
        names: Sequence[str] = (),
    ) -> None:
        """Describe a registry; nothing is started, written or built yet.

        `names` are further hosts that its certificate is for.
        """
        self.work_dir = work_dir.absolute()
        self.auth = auth
        self.token_service: TokenService | None = None
        self._host = host
        self._tls = tls
        self._names = tuple(names)
        self._port: int | None = None
        self._executable = executable
        self._child: ChildProcess | None = None

    @property
    def address(self) -> str:
        """HOST:PORT, as image references begin."""
        if self._port is None:
            self._port = free_port(self._host)
        return f"{self._host}:{self._port}"

    @property
    def url(self) -> str:
        """Where its HTTP interface is."""
        return f"{'https' if self._tls else 'http'}://{self.address}"

    @property
    def ca_file(self) -> Path | None:
        """The certificate to check the registry (and the token service) with; None without TLS."""
        return self.work_dir / "pki" / "registry-ca.crt" if self._tls else None

    @property
    def credentials(self) -> Credentials | None:
        """What a client has to know; None if nothing."""
        return self.auth.credentials if self.auth else None

    @property
    def log(self) -> Path:
        """The registry's own log."""
        return self.work_dir / "registry.log"

    def start(self) -> None:
        """Start and wait until it answers; on failure nothing is left running.

        Errors: ProcessFailed, BinaryUnavailable, BuildFailed.
        """
        executable = self._executable or registry_binary()
        self.work_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            configuration = self._write_configuration()
            self._child = ChildProcess(
                "registry",
                (*executable.argv, "serve", str(configuration)),
                log=self.log,
                stdout=self._access_log,
                env=service_environment(OTEL_SDK_DISABLED="true", OTEL_TRACES_EXPORTER="none"),
            )
            self._child.start()
            self._wait_ready(self._child)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the registry and the token service; content stays. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None
        if self.token_service is not None:
            self.token_service.stop()
            self.token_service = None

    def client(self, credentials: Credentials | None = None) -> RegistryClient:
        """A client that trusts the registry; with its credentials unless others are given."""
        return RegistryClient(
            self.url, ca_file=self.ca_file, credentials=credentials or self.credentials
        )

    def push(
        self, image: Image | ImageIndex, repository: str, *, tag: str | None = None
    ) -> Published:
        """Publish an image. Errors: RegistryFailed."""
        with self.client() as client:
            return client.push(image, repository, tag=tag)

    def docker_config(self) -> dict[str, Any]:
        """The content of a pull secret (.dockerconfigjson) for this registry."""
        if self.credentials is None:
            return {"auths": {}}
        pair = f"{self.credentials.username}:{self.credentials.password}"
        return {"auths": {self.address: {"auth": base64.b64encode(pair.encode()).decode()}}}

    def requests(self) -> list[LoggedRequest]:
        """All requests answered so far, oldest first, over restarts too.

        The registry writes a line before it ends a small answer. While a large blob is sent, its
        line may come a moment after the client has read the last byte.
        """
        if not self._access_log.is_file():
            return []
        matches = map(_ACCESS.match, self._access_log.read_text().splitlines())
        return [
            LoggedRequest(
                method=match["method"],
                target=match["target"],
                status=int(match["status"]),
                agent=match["agent"],
            )
            for match in matches
            if match is not None
        ]

    @property
    def _access_log(self) -> Path:
        return self.work_dir / "access.log"

    def _write_configuration(self) -> Path:
        http: dict[str, Any] = {"addr": self.address, "secret": "one instance only"}
        pair = self._write_certificate() if self._tls else None
        if pair is not None:
            http["tls"] = {"certificate": str(pair[0]), "key": str(pair[1])}
        configuration = {
            "version": 0.1,
            "log": {"level": "info"},
            "storage": {
                "filesystem": {"rootdirectory": str(self.work_dir / "content")},
                "delete": {"enabled": True},
            },
            "http": http,
            "auth": self._auth_configuration(pair),
        }
        path = self.work_dir / "registry.yaml"
        path.write_text(yaml.safe_dump(configuration, sort_keys=False))
        return path

    def _write_certificate(self) -> tuple[Path, Path]:
        folder = self.work_dir / "pki"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        authority = CertificateAuthority.load_or_create(folder, "registry-ca")
        hosts = {"localhost", DEFAULT_HOST, self._host, *self._names}
        if isinstance(self.auth, TokenAuth):
            hosts.add(self.auth.host)
        return authority.issue_server("registry", hosts=sorted(hosts)).write(folder, "registry")

    def _auth_configuration(self, tls: tuple[Path, Path] | None) -> dict[str, Any]:
        match self.auth:
            case None:
                return {}
            case PasswordAuth(credentials):
                path = self.work_dir / "htpasswd"
                write_private(path, _htpasswd(credentials))
                return {"htpasswd": {"realm": "olmv1", "path": str(path)}}
            case TokenAuth() as auth:
                return {"token": self._start_token_service(auth, tls)}

    def _start_token_service(
        self, auth: TokenAuth, tls: tuple[Path, Path] | None
    ) -> dict[str, Any]:
        service = TokenService(
            host=auth.host,
            port=free_port(auth.host),
            credentials=auth.credentials,
            anonymous_pull=auth.anonymous_pull,
        )
        service.start(tls)
        self.token_service = service
        keys = self.work_dir / "token-keys.json"
        keys.write_text(json.dumps(service.key_set()))
        scheme = "https" if tls else "http"
        return {
            "realm": f"{scheme}://{service.host}:{service.port}/token",
            "service": SERVICE,
            "issuer": ISSUER,
            "jwks": str(keys),
        }

    def _wait_ready(self, child: ChildProcess) -> None:
        ca_file = self.ca_file
        verify = ssl.create_default_context(cafile=str(ca_file)) if ca_file else False
        with httpx.Client(verify=verify, timeout=2.0, trust_env=False) as client:

            def answers() -> bool:
                try:
                    answer = client.get(f"{self.url}/v2/")
                except httpx.TransportError:
                    return False
                return answer.status_code in {httpx.codes.OK, httpx.codes.UNAUTHORIZED}

            child.wait_ready(answers)


def _htpasswd(credentials: Credentials) -> bytes:
    hashed = bcrypt.hashpw(credentials.password.encode(), bcrypt.gensalt(BCRYPT_ROUNDS))
    return credentials.username.encode() + b":" + hashed + b"\n"
