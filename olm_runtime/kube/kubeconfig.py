"""Reads kubeconfigs, by the official client: it knows plugins, OIDC, and merges many files."""

import logging
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kubernetes.client import Configuration
from kubernetes.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.cluster_access import ClusterAccess, token_of, unreadable
from olm_runtime.kube.overrides import Overrides, not_there
from olm_runtime.kube.plain_kubeconfig import default_kubeconfig

_NAME = "as asked for"
"""Of the one context, and of a user that is not of the file."""


class _Messages(logging.Handler):
    """What the client logs where it should have raised: it would go on as nobody."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A kubeconfig, merged from its files, in which the context is the one that is meant."""

    merged: ConfigNode
    user: ConfigNode
    save: Any

    def load(self, found: Configuration) -> str:
        """Fills in the configuration; what the client complained of meanwhile."""
        logged, log = _Messages(), logging.getLogger()
        log.addHandler(logged)
        try:
            KubeConfigLoader(  # type: ignore[no-untyped-call]
                self.merged, _NAME, config_base_path=None, config_persister=self.save
            ).load_and_set(found)
        finally:
            log.removeHandler(logged)
        return "; ".join(logged.messages)


def read_kubeconfig(file: str | None, overrides: Overrides) -> ClusterAccess:
    """What the file says, with these overrides; None is the default one, or KUBECONFIG's.

    Raises TerminalError.
    """
    # Of itself it would take the proxy of the environment whatever NO_PROXY says.
    found = Configuration(proxy="")
    try:
        chosen = _choose(_merged(file, overrides), overrides)
        logged = chosen.load(found)
        authority = Path(found.ssl_ca_cert).read_text() if found.ssl_ca_cert else None
        files = [Path(part) for part in (found.cert_file, found.key_file) if part]
        certificate = b"\n".join(part.read_bytes() for part in files)
        impersonation = overrides.impersonation(chosen.user.value)
    except OLMError as error:
        raise unreadable(error.message, hint=error.hint) from error
    except Exception as error:
        raise unreadable(" ".join(str(error).split()) or type(error).__name__) from error
    if not certificate and not found.api_key:
        _refuse_without_credentials(chosen.user, logged)
    token_file = _token_file(chosen.user)
    return ClusterAccess(
        server=str(found.host).rstrip("/"),
        authorization=partial(token_of, token_file) if token_file else partial(_header, found),
        proxy=found.proxy or None,
        authority=authority,
        certificate=certificate or None,
        expected_name=found.tls_server_name or None,
        verify=found.verify_ssl,
        impersonation=impersonation,
    )


def _merged(file: str | None, overrides: Overrides) -> KubeConfigMerger:
    """The files as one. Without a default one an address suffices. Raises TerminalError."""
    named = file or default_kubeconfig()
    files = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    found = KubeConfigMerger(named)  # type: ignore[no-untyped-call]
    if found.config is not None:
        return found
    if file or not overrides.server:
        missing = ", ".join(map(str, files))
        raise TerminalError(
            f"{missing}: no such file", hint="give --kubeconfig FILE, or set KUBECONFIG"
        )
    empty: dict[str, Any] = {"clusters": [], "users": [], "contexts": []}
    found.config_merged = ConfigNode("", empty, "")  # type: ignore[no-untyped-call]
    return found


def _choose(files: KubeConfigMerger, overrides: Overrides) -> _Chosen:
    """Raises TerminalError for entries that are not there.

    Changes nothing that the files have: the client writes back tokens that it renewed.
    """
    merged = files.config
    names = overrides.chosen(
        {name: node.value["context"] or {} for name, node in _named(merged, "contexts").items()},
        merged.safe_get("current-context") or "",
    )
    cluster, user = (
        _entry(merged, kind, name) for kind, name in zip(("cluster", "user"), names, strict=True)
    )
    cluster.value["cluster"] = overrides.on_cluster(cluster.value["cluster"])
    if not cluster.value["cluster"].get("server"):
        raise TerminalError(
            "it says of no cluster where it is", hint="give --context NAME, or --server URL"
        )
    user.value["user"] = overrides.on_user(user.value["user"])
    context = {"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}
    merged.value["clusters"], merged.value["users"] = [cluster], [user]
    merged.value["contexts"] = [ConfigNode(_NAME, context)]  # type: ignore[no-untyped-call]
    return _Chosen(merged, user["user"], files.save_changes)


def _named(merged: ConfigNode, section: str) -> dict[str, ConfigNode]:
    return {node.value["name"]: node for node in merged.value[section]}


def _entry(merged: ConfigNode, kind: str, name: str) -> ConfigNode:
    """A copy of an entry, which the context names; an empty one for no name."""
    if not name:
        return ConfigNode(kind, {"name": _NAME, kind: {}}, "")  # type: ignore[no-untyped-call]
    known = _named(merged, f"{kind}s")
    if name not in known:
        raise not_there(kind, name, known)
    found = known[name]
    content = {"name": _NAME, kind: found.value[kind] or {}}
    return ConfigNode(found.name, content, found.path)  # type: ignore[no-untyped-call]


def _refuse_without_credentials(user: ConfigNode, logged: str) -> None:
    """Nobody means to be anonymous who names a plugin. Raises TerminalError."""
    means = user.value
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


def _token_file(user: ConfigNode) -> Path | None:
    """The `tokenFile` of the user: the official client reads it only once."""
    named = user.value.get("tokenFile")
    return Path(user.path).parent / str(named) if named else None
