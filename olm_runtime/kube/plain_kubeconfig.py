"""Reads plain kubeconfigs in milliseconds: a CA, and a certificate or a token to prove who we are.

The official client knows every form, and takes longer to import than most commands take. So what
is plain is read here; anything else (exec plugins, proxies, several files, what cannot be read) is
left to it, which also says what is wrong. Whoever has a reader of YAML that is imported sooner than
PyYAML gives it.
"""

import base64
import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from olm_runtime.errors import OLMError
from olm_runtime.kube.cluster_access import ClusterAccess, token_of
from olm_runtime.kube.overrides import Headers, Overrides, Section

_CLUSTER = {
    *("server", "certificate-authority", "certificate-authority-data"),
    *("insecure-skip-tls-verify", "tls-server-name"),
}
_USER = {
    *("client-certificate", "client-certificate-data", "client-key", "client-key-data"),
    *("token", "tokenFile", "as", "as-uid", "as-groups", "as-user-extra"),
}
_UNUSUAL = (OLMError, OSError, ValueError, LookupError, TypeError, AttributeError)

Parse = Callable[[bytes], Any]
"""Reads a document of YAML. Raises OLMError, ValueError."""


def parse_yaml(data: bytes) -> Any:
    """The document. Raises ValueError."""
    import yaml

    try:
        return yaml.load(data, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def default_kubeconfig() -> str:
    """The file that counts where none is named, or several, as KUBECONFIG has them."""
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def read_plain(file: Path, overrides: Overrides, parse: Parse = parse_yaml) -> ClusterAccess | None:
    """What a kubeconfig says, with these overrides; None if that is not plain."""
    try:
        config = parse(file.read_bytes())
        cluster, user = _sections(config, overrides)
        if cluster.keys() - _CLUSTER or user.keys() - _USER:
            return None
        return access_of(cluster, user, file.parent, overrides.impersonation(user))
    except _UNUSUAL:
        return None


def _sections(config: Section, overrides: Overrides) -> tuple[Section, Section]:
    """The cluster and the user that are meant, as they count. Raises LookupError, OLMError."""

    def named(section: str) -> dict[str, Section]:
        inner = section.removesuffix("s")
        # The first of a name counts, as where files are merged.
        return {each["name"]: each[inner] or {} for each in reversed(config.get(section) or ())}

    cluster, user = overrides.chosen(named("contexts"), config.get("current-context") or "")
    found = named("clusters")[cluster] if cluster else {}
    return (
        overrides.on_cluster(found),
        overrides.on_user(named("users")[user] if user else {}),
    )


def names_of(kubeconfig: str | None, section: str, parse: Parse = parse_yaml) -> list[str]:
    """The names in a list of a kubeconfig, or of several: `contexts`, `clusters`, `users`.

    Files that cannot be read have none.
    """
    found: dict[str, None] = {}
    for file in (kubeconfig or default_kubeconfig()).split(os.pathsep):
        with contextlib.suppress(*_UNUSUAL):
            config = parse(Path(file).expanduser().read_bytes())
            found |= dict.fromkeys(str(each["name"]) for each in config.get(section) or ())
    return sorted(found)


def access_of(
    cluster: Section, user: Section, folder: Path, impersonation: Headers
) -> ClusterAccess:
    """How to reach a cluster that plain sections describe; paths are relative to the folder.

    Raises OSError for files that cannot be read, ValueError for what is not plain.
    """
    url = urlsplit(cluster["server"])
    certificate, key = (_data(user, f"client-{each}", folder) for each in ("certificate", "key"))
    if url.scheme != "https" or not url.hostname or (certificate is None) != (key is None):
        raise ValueError("no plain cluster, or half a certificate")
    authority = _data(cluster, "certificate-authority", folder)
    return ClusterAccess(
        server=cluster["server"].rstrip("/"),
        authorization=_authorization(user, folder),
        authority=authority.decode() if authority is not None else None,
        certificate=certificate + b"\n" + key if certificate and key else None,
        expected_name=cluster.get("tls-server-name") or None,
        verify=not cluster.get("insecure-skip-tls-verify"),
        impersonation=impersonation,
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
