"""How to reach the API server: address, trust and credentials.

In a pod they are in its service account's folder; outside, in a kubeconfig. Where that is not a
plain one the official client reads it, which is imported only then: it takes a third of a second
and nine megabytes. Requests are made by `olm_runtime.kube.client`.
"""

import os
import ssl
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from olm_runtime.errors import TerminalError
from olm_runtime.kube.errors import ApiError
from olm_runtime.kube.overrides import Headers, Overrides
from olm_runtime.proxies import read_proxies

NO_OVERRIDES = Overrides()
SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccess:
    """Where the API server is and how to prove who we are.

    `server` has no trailing slash. `authorization` gives the header of that name as it is now, for
    tokens are renewed; it raises ApiError when there is none to be had. `proxy` is the one to go
    through, `authority` has the CAs (PEM; None for those of the system), `certificate` the client's
    chain and key (PEM). With `expected_name` the server's certificate is to be of that name,
    whatever the address is. `impersonation` are the headers that make us somebody else;
    `request_seconds` bounds each request: None as usual, 0 not at all.
    """

    server: str
    authorization: Callable[[], str | None] = lambda: None
    proxy: str | None = None
    authority: str | None = None
    certificate: bytes | None = None
    expected_name: str | None = None
    verify: bool = True
    impersonation: Headers = ()
    request_seconds: float | None = None

    def headers(self) -> list[tuple[str, str]]:
        """The headers that say who asks, as they are now. Raises ApiError as `authorization`."""
        authorization = self.authorization()
        own = [("Authorization", authorization)] if authorization else []
        return [*own, *self.impersonation]

    def tls(self) -> ssl.SSLContext:
        """The TLS context: the cluster's CA and, if there is one, the client certificate.

        Raises TerminalError for what is no certificate or no key.
        """
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.expected_name = self.expected_name
        try:
            self._load(context)
        except (ssl.SSLError, ValueError) as error:
            raise unreadable(f"a certificate or key in it is none: {error}") from error
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        if self.authority is None:
            context.load_default_certs()
        else:
            context.load_verify_locations(cadata=self.authority)
        if self.certificate is not None:
            # OpenSSL reads a chain from files only.
            with tempfile.TemporaryDirectory(prefix="olm-") as private:
                chain = Path(private, "chain.pem")
                chain.touch(mode=0o600)
                chain.write_bytes(self.certificate)
                context.load_cert_chain(chain)


class _Context(ssl.SSLContext):
    """Asks for a name of its own in place of the host's, in all clients alike."""

    expected_name: str | None = None

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        name = self.expected_name or server_hostname
        return super().wrap_bio(incoming, outgoing, server_side, name, session)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        if self.expected_name:
            kwargs["server_hostname"] = self.expected_name
        return super().wrap_socket(*args, **kwargs)


def own_namespace(default: str) -> str:
    """The pod's namespace, or `default` outside a cluster."""
    try:
        return (SERVICE_ACCOUNT_FOLDER / "namespace").read_text().strip()
    except FileNotFoundError:
        return default


def load_access(kubeconfig: str | None, overrides: Overrides = NO_OVERRIDES) -> ClusterAccess:
    """Reads the named kubeconfig; without one the pod's service account, else the default file.

    Raises TerminalError when there is none that can be read, TransientError for a variable of the
    environment that names no proxy.
    """
    access = quick_access(kubeconfig, overrides)
    if access is not None:
        return access
    from olm_runtime.kube.kubeconfig import read_kubeconfig

    return _completed(read_kubeconfig(kubeconfig, overrides), overrides)


def quick_access(
    kubeconfig: str | None, overrides: Overrides = NO_OVERRIDES
) -> ClusterAccess | None:
    """The same in milliseconds; None if the official client has to read the configuration."""
    in_pod = kubeconfig is None and (SERVICE_ACCOUNT_FOLDER / "token").exists()
    if in_pod and not overrides.names_entries:
        return _completed(_of_service_account(overrides), overrides)
    from olm_runtime.kube.plain_kubeconfig import read_plain

    access = read_plain(Path(kubeconfig or default_kubeconfig()), overrides)
    return access and _completed(access, overrides)


def default_kubeconfig() -> str:
    """The file that counts where none is named, or several, as KUBECONFIG has them."""
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def _completed(access: ClusterAccess, overrides: Overrides) -> ClusterAccess:
    """With the bound of a request, and the proxy of the environment, unless it names one.

    Raises TransientError.
    """
    proxy = access.proxy or read_proxies(os.environ).choose(access.server) or None
    return replace(access, proxy=proxy, request_seconds=overrides.request_seconds)


def unreadable(problem: object, *, hint: str = "") -> TerminalError:
    """The error for a configuration that cannot be read."""
    return TerminalError(
        f"cannot read the cluster configuration: {problem}",
        hint=hint or "give --kubeconfig FILE, or run in a pod with a service account",
    )


def token_of(file: Path) -> str:
    """The Authorization header of a token file: it is renewed at any time.

    Raises ApiError when it cannot be read.
    """
    try:
        return f"Bearer {file.read_text().strip()}"
    except OSError as error:
        raise ApiError(f"cannot read the token file {file}: {error.strerror or error}") from error


def _of_service_account(overrides: Overrides) -> ClusterAccess:
    """What a pod is given. Raises TerminalError if a part of it is missing."""
    from olm_runtime.kube.plain_kubeconfig import access_of

    variables = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
    host, port = (os.environ.get(name, "") for name in variables)
    if not host or not port:
        raise unreadable(f"{' and '.join(variables)} are not both set in the environment")
    cluster = {
        "server": f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        "certificate-authority": "ca.crt",
    }
    user = overrides.on_user({"tokenFile": "token"})
    headers = overrides.impersonation(user)
    try:
        return access_of(overrides.on_cluster(cluster), user, SERVICE_ACCOUNT_FOLDER, headers)
    except OSError as error:
        raise unreadable(f"{error.strerror}: {error.filename}") from error
