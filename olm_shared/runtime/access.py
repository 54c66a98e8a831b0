"""How to reach the API server: address, trust and credentials, from a kubeconfig or the pod.

The official client reads the configuration, because it knows every form of it (exec plugins,
token files, OIDC); requests are made by `olm_shared.runtime.kube`.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import load_incluster_config, load_kube_config
from kubernetes.config.config_exception import ConfigException

from olm_shared.errors import TerminalError

SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Where the API server is and how to prove who we are."""

    configuration: Configuration

    @property
    def server(self) -> str:
        """The API server's address, without a trailing slash."""
        return str(self.configuration.host).rstrip("/")

    def authorization(self) -> str | None:
        """The Authorization header, refreshed when its source says that it expired."""
        key: str | None = self.configuration.get_api_key_with_prefix("BearerToken", "authorization")
        if key and " " not in key:
            key = f"Bearer {key}"
        return key or self.configuration.get_basic_auth_token() or None

    def tls(self) -> ssl.SSLContext:
        """The TLS context: the cluster's CA and, if there is one, the client certificate."""
        settings = self.configuration
        context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
        if not settings.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if settings.cert_file:
            context.load_cert_chain(settings.cert_file, settings.key_file)
        return context


def own_namespace(default: str) -> str:
    """The pod's namespace, or `default` outside a cluster."""
    try:
        return (SERVICE_ACCOUNT_FOLDER / "namespace").read_text().strip()
    except FileNotFoundError:
        return default


def load_access(kubeconfig: str | None) -> ClusterAccess:
    """Reads the named kubeconfig; without one the pod's service account, else the default file.

    Raises TerminalError when there is none that can be read.
    """
    configuration = Configuration()
    try:
        if kubeconfig is None and (SERVICE_ACCOUNT_FOLDER / "token").exists():
            load_incluster_config(  # type: ignore[no-untyped-call]
                client_configuration=configuration
            )
        else:
            load_kube_config(  # type: ignore[no-untyped-call]
                config_file=kubeconfig, client_configuration=configuration
            )
    except (ConfigException, OSError) as error:
        raise TerminalError(
            f"cannot read the cluster configuration: {error}",
            hint="give --kubeconfig FILE, or run in a pod with a service account",
        ) from error
    return ClusterAccess(configuration)
