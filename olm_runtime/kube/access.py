"""How to reach the API server: address, trust and credentials.

In a pod they are in its service account's folder; outside, in a kubeconfig. Where that is not a
plain one the official client reads it, which is imported only then: it takes a third of a second
and nine megabytes. Requests are made by `olm_runtime.kube.client`.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from olm_runtime.kube.cluster_access import ClusterAccess, unreadable
from olm_runtime.kube.overrides import Overrides
from olm_runtime.proxies import read_proxies

if TYPE_CHECKING:
    from olm_runtime.kube.plain_kubeconfig import Parse

NO_OVERRIDES = Overrides()
SERVICE_ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def own_namespace(default: str) -> str:
    """The pod's namespace, or `default` outside a cluster."""
    try:
        return (SERVICE_ACCOUNT_FOLDER / "namespace").read_text().strip()
    except FileNotFoundError:
        return default


def load_access(
    kubeconfig: str | None,
    overrides: Overrides = NO_OVERRIDES,
    *,
    parse: "Parse | None" = None,
) -> ClusterAccess:
    """Reads the named kubeconfig; without one the pod's service account, else the default file.

    `parse` reads YAML in place of PyYAML where the kubeconfig is a plain one.
    Raises TerminalError when there is none that can be read, TransientError for a variable of the
    environment that names no proxy.
    """
    access = quick_access(kubeconfig, overrides, parse=parse)
    if access is not None:
        return access
    from olm_runtime.kube.kubeconfig import read_kubeconfig

    return _completed(read_kubeconfig(kubeconfig, overrides), overrides)


def quick_access(
    kubeconfig: str | None,
    overrides: Overrides = NO_OVERRIDES,
    *,
    parse: "Parse | None" = None,
) -> ClusterAccess | None:
    """The same in milliseconds; None if the official client has to read the configuration."""
    in_pod = kubeconfig is None and (SERVICE_ACCOUNT_FOLDER / "token").exists()
    if in_pod and not overrides.names_entries:
        return _completed(_of_service_account(overrides), overrides)
    from olm_runtime.kube.plain_kubeconfig import default_kubeconfig, parse_yaml, read_plain

    file = Path(kubeconfig or default_kubeconfig())
    access = read_plain(file, overrides, parse or parse_yaml)
    return access and _completed(access, overrides)


def _completed(access: ClusterAccess, overrides: Overrides) -> ClusterAccess:
    """With the bound of a request, and the proxy of the environment, unless it names one.

    Raises TransientError, TerminalError for a server that cannot be.
    """
    _check(access.server)
    proxy = access.proxy or read_proxies(os.environ).choose(access.server) or None
    return access._replace(proxy=proxy, request_seconds=overrides.request_seconds)


def _check(server: str) -> None:
    """Raises TerminalError for an address that no server can have."""
    try:
        parts = urlsplit(server)
        _ = parts.port
        if not server.isascii():  # others need no tables of IDNA
            (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise unreadable(
            f'no server can have the address "{server}": {error}',
            hint="see `server` in the kubeconfig, or --server",
        ) from error


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
