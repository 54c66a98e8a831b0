"""Reads plain kubeconfigs in milliseconds: a CA, and a certificate or a token to prove who we are.

The official client knows every form, and takes longer to import than most commands take. So what
is plain is read here; anything else (exec plugins, proxies, several files, what cannot be read) is
left to it, which also says what is wrong.
"""

import base64
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from olm_runtime.kube.access import ClusterAccess, token_of

_CLUSTER = {"server", "certificate-authority", "certificate-authority-data"}
_USER = {
    *("client-certificate", "client-certificate-data", "client-key", "client-key-data"),
    *("token", "tokenFile"),
}
_UNUSUAL = (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError)

Section = Mapping[str, Any]


def read_plain(file: Path) -> ClusterAccess | None:
    """What the current context of a kubeconfig says; None if that is not plain."""
    try:
        cluster, user = _sections(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader))
        if cluster.keys() - _CLUSTER or user.keys() - _USER:
            return None
        return _access(cluster, user, file.parent)
    except _UNUSUAL:
        return None


def _sections(config: Section) -> tuple[Section, Section]:
    """The cluster and the user of the current context. Raises LookupError."""

    def named(section: str, name: str) -> Section:
        found = [each for each in config[section] if each["name"] == name]
        inner: Section = found[0][section.removesuffix("s")] or {}
        return inner

    context = named("contexts", config["current-context"])
    return named("clusters", context["cluster"]), named("users", context["user"])


def _access(cluster: Section, user: Section, folder: Path) -> ClusterAccess | None:
    url = urlsplit(cluster["server"])
    authority = _data(cluster, "certificate-authority", folder)
    certificate, key = (_data(user, f"client-{each}", folder) for each in ("certificate", "key"))
    if url.scheme != "https" or not url.hostname or (certificate is None) != (key is None):
        return None
    return ClusterAccess(
        server=cluster["server"].rstrip("/"),
        authorization=_authorization(user, folder),
        authority=authority.decode() if authority is not None else None,
        certificate=certificate + b"\n" + key if certificate and key else None,
    )


def _authorization(user: Section, folder: Path) -> Callable[[], str | None]:
    """How the Authorization header is had; a file counts more than a token, as for kubectl."""
    if user.get("tokenFile"):
        return partial(token_of, folder / user["tokenFile"])
    header = f"Bearer {user['token']}" if user.get("token") else None
    return lambda: header


def _data(section: Section, field: str, folder: Path) -> bytes | None:
    if section.get(f"{field}-data"):
        return base64.b64decode(section[f"{field}-data"])
    return (folder / section[field]).read_bytes() if section.get(field) else None
