"""Reads kubeconfigs, by the official client: it knows plugins, OIDC, and merges many files."""

import logging
import os
from functools import partial
from pathlib import Path

from kubernetes.client import Configuration
from kubernetes.config import load_kube_config
from kubernetes.config.kube_config import (
    KUBE_CONFIG_DEFAULT_LOCATION,
    ConfigNode,
    KubeConfigMerger,
)

from olm_runtime.kube.access import ClusterAccess, token_of, unreadable


class _Messages(logging.Handler):
    """What the client logs where it should have raised: it would go on as nobody."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def read_kubeconfig(file: str | None) -> ClusterAccess:
    """What the current context of the file says; None is the default one, or those of KUBECONFIG.

    Raises TerminalError.
    """
    _refuse_missing(file)
    # Of itself it would take the proxy of the environment whatever NO_PROXY says.
    found = Configuration(proxy="")
    try:
        logged = _load(file, found)
        user = _user(file)
        authority = Path(found.ssl_ca_cert).read_text() if found.ssl_ca_cert else None
        files = [Path(part) for part in (found.cert_file, found.key_file) if part]
        certificate = b"\n".join(part.read_bytes() for part in files)
    except Exception as error:
        raise unreadable(" ".join(str(error).split()) or type(error).__name__) from error
    if not certificate and not found.api_key:
        _refuse_without_credentials(user, logged)
    token_file = _token_file(user)
    return ClusterAccess(
        server=str(found.host).rstrip("/"),
        authorization=partial(token_of, token_file) if token_file else partial(_header, found),
        proxy=found.proxy or None,
        authority=authority,
        certificate=certificate or None,
        expected_name=found.tls_server_name,
        verify=found.verify_ssl,
    )


def _load(file: str | None, found: Configuration) -> str:
    """Fills in the configuration; what the client complained of meanwhile."""
    logged, log = _Messages(), logging.getLogger()
    log.addHandler(logged)
    try:
        load_kube_config(  # type: ignore[no-untyped-call]
            config_file=file, client_configuration=found
        )
    finally:
        log.removeHandler(logged)
    return "; ".join(logged.messages)


def _refuse_missing(file: str | None) -> None:
    named = file or KUBE_CONFIG_DEFAULT_LOCATION
    files = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    if not any(path.exists() for path in files):
        missing = ", ".join(map(str, files))
        raise unreadable(
            f"{missing}: no such file", hint="give --kubeconfig FILE, or set KUBECONFIG"
        )


def _refuse_without_credentials(user: ConfigNode | None, logged: str) -> None:
    """Nobody means to be anonymous who names a plugin. Raises TerminalError."""
    means = user.value if user is not None else {}
    plugin = means.get("exec")
    if plugin:
        command = plugin.get("command")
        raise unreadable(
            f'the plugin "{command}" gave no credentials: {logged}',
            hint=plugin.get("installHint") or f"see that {command} is installed and works",
        )
    if means.get("auth-provider"):
        problem = logged or "such providers are known no more"
        raise unreadable(f"its auth-provider gave no credentials: {problem}", hint="log in again")


def _header(found: Configuration) -> str | None:
    """The Authorization header, refreshed when its source says that it expired."""
    key: str | None = found.get_api_key_with_prefix("BearerToken", "authorization")
    if key and " " not in key:
        key = f"Bearer {key}"
    return key or found.get_basic_auth_token() or None


def _user(file: str | None) -> ConfigNode | None:
    """The entry of the current user, None without one."""
    merged = KubeConfigMerger(  # type: ignore[no-untyped-call]
        file or KUBE_CONFIG_DEFAULT_LOCATION
    ).config
    context = merged["contexts"].get_with_name(merged["current-context"])["context"]
    users = merged.safe_get("users")
    named = context.safe_get("user")
    found = merged["users"].get_with_name(named, safe=True) if users and named else None
    return found["user"] if found is not None and found.value.get("user") else None


def _token_file(user: ConfigNode | None) -> Path | None:
    """The `tokenFile` of the user: the official client reads it only once."""
    named = user.value.get("tokenFile") if user is not None else None
    return Path(user.path).parent / str(named) if user is not None and named else None
