"""Reads kubeconfigs, by the official client: it knows plugins, OIDC, and merges many files."""

from functools import partial
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import load_kube_config
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import KUBE_CONFIG_DEFAULT_LOCATION, KubeConfigMerger

from olm_shared.runtime.access import ClusterAccess, token_of, unreadable


def read_kubeconfig(file: str | None) -> ClusterAccess:
    """What the current context of the file says; None is the default one, or those of KUBECONFIG.

    Raises TerminalError.
    """
    # Of itself it would take the proxy of the environment whatever NO_PROXY says.
    found = Configuration(proxy="")
    try:
        load_kube_config(  # type: ignore[no-untyped-call]
            config_file=file, client_configuration=found
        )
        token_file = _token_file(file)
        authority = Path(found.ssl_ca_cert).read_text() if found.ssl_ca_cert else None
        files = [Path(part) for part in (found.cert_file, found.key_file) if part]
        certificate = b"\n".join(part.read_bytes() for part in files)
    except (ConfigException, OSError, UnicodeDecodeError) as error:
        raise unreadable(error) from error
    return ClusterAccess(
        server=str(found.host).rstrip("/"),
        authorization=partial(token_of, token_file) if token_file else partial(_header, found),
        proxy=found.proxy or None,
        authority=authority,
        certificate=certificate or None,
        expected_name=found.tls_server_name,
        verify=found.verify_ssl,
    )


def _header(found: Configuration) -> str | None:
    """The Authorization header, refreshed when its source says that it expired."""
    key: str | None = found.get_api_key_with_prefix("BearerToken", "authorization")
    if key and " " not in key:
        key = f"Bearer {key}"
    return key or found.get_basic_auth_token() or None


def _token_file(file: str | None) -> Path | None:
    """The `tokenFile` of the current user: the official client reads it only once."""
    merged = KubeConfigMerger(  # type: ignore[no-untyped-call]
        file or KUBE_CONFIG_DEFAULT_LOCATION
    ).config
    context = merged["contexts"].get_with_name(merged["current-context"])["context"]
    users = merged.safe_get("users")
    named = context.safe_get("user")
    found = merged["users"].get_with_name(named, safe=True) if users and named else None
    user = found.safe_get("user") if found is not None else None
    if found is None or not user or not user.get("tokenFile"):
        return None
    return Path(found["user"].path).parent / str(user["tokenFile"])
