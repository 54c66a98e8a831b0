"""How to reach the API server: address, trust and credentials, from a kubeconfig or the pod.

The official client reads the configuration, because it knows every form of it (exec plugins,
token files, OIDC); requests are made by `olm_shared.runtime.kube`.
"""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import load_incluster_config, load_kube_config
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger

from olm_shared.errors import TerminalError
from olm_shared.proxies import read_proxies
from olm_shared.runtime.api_errors import ApiError

SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Where the API server is and how to prove who we are."""

    configuration: Configuration
    token_file: Path | None = None

    @property
    def server(self) -> str:
        """The API server's address, without a trailing slash."""
        return str(self.configuration.host).rstrip("/")

    @property
    def proxy(self) -> str | None:
        """The proxy to reach it through: `proxy-url`, else that of the environment."""
        return self.configuration.proxy or None

    def authorization(self) -> str | None:
        """The Authorization header, refreshed when its source says that it expired.

        A token file is read each time: whoever renews it does not tell. Raises ApiError when it
        cannot be read.
        """
        if self.token_file is not None:
            return f"Bearer {_read_token(self.token_file)}"
        key: str | None = self.configuration.get_api_key_with_prefix("BearerToken", "authorization")
        if key and " " not in key:
            key = f"Bearer {key}"
        return key or self.configuration.get_basic_auth_token() or None

    def tls(self) -> ssl.SSLContext:
        """The TLS context: the cluster's CA and, if there is one, the client certificate.

        With `tls-server-name` it checks for that name, whatever the address is.
        """
        settings = self.configuration
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.expected_name = settings.tls_server_name
        if settings.ssl_ca_cert:
            context.load_verify_locations(cafile=settings.ssl_ca_cert)
        else:
            context.load_default_certs()
        if not settings.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if settings.cert_file:
            context.load_cert_chain(settings.cert_file, settings.key_file)
        return context


def _read_token(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError as error:
        raise ApiError(f"cannot read the token file {file}: {error.strerror or error}") from error


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


def own_namespace(default: str) -> str:
    """The pod's namespace, or `default` outside a cluster."""
    try:
        return (SERVICE_ACCOUNT_FOLDER / "namespace").read_text().strip()
    except FileNotFoundError:
        return default


def load_access(kubeconfig: str | None) -> ClusterAccess:
    """Reads the named kubeconfig; without one the pod's service account, else the default file.

    Raises TerminalError when there is none that can be read, TransientError for a variable of the
    environment that names no proxy.
    """
    # Of itself it would take the proxy of the environment whatever NO_PROXY says.
    configuration = Configuration(proxy="")
    token_file = None
    try:
        if kubeconfig is None and (SERVICE_ACCOUNT_FOLDER / "token").exists():
            load_incluster_config(  # type: ignore[no-untyped-call]
                client_configuration=configuration
            )
        else:
            load_kube_config(  # type: ignore[no-untyped-call]
                config_file=kubeconfig, client_configuration=configuration
            )
            token_file = _token_file(kubeconfig)
    except (ConfigException, OSError) as error:
        raise TerminalError(
            f"cannot read the cluster configuration: {error}",
            hint="give --kubeconfig FILE, or run in a pod with a service account",
        ) from error
    if not configuration.proxy:
        configuration.proxy = read_proxies(os.environ).choose(str(configuration.host))
    return ClusterAccess(configuration, token_file)


def _token_file(kubeconfig: str | None) -> Path | None:
    """The `tokenFile` of the current user: the official client reads it only once."""
    merged = KubeConfigMerger(  # type: ignore[no-untyped-call]
        kubeconfig or KUBE_CONFIG_DEFAULT_LOCATION
    ).config
    context = merged["contexts"].get_with_name(merged["current-context"])["context"]
    users = merged.safe_get("users")
    named = context.safe_get("user")
    found = merged["users"].get_with_name(named, safe=True) if users and named else None
    user = found.safe_get("user") if found is not None else None
    if found is None or not user or not user.get("tokenFile"):
        return None
    return Path(found["user"].path).parent / str(user["tokenFile"])
