"""Catalogs or extensions of a cluster in a few milliseconds, where the kubeconfig is a plain one.

The official client knows every form of kubeconfig, and takes longer to import than a search may
take. So certificates, tokens and a CA are read here; anything else (exec plugins, proxies, several
files), and any answer but the list, is left to the official client, which also tells what is wrong.
"""

import base64
import contextlib
import http.client
import os
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import yaml

CATALOGS, EXTENSIONS = "ClusterCatalog", "ClusterExtension"
SECONDS = 10.0

_CLUSTER = {"server", "certificate-authority", "certificate-authority-data"}
_USER = {
    *("client-certificate", "client-certificate-data", "client-key", "client-key-data"),
    *("token", "tokenFile"),
}
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

_UNUSUAL = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError),
    *(yaml.YAMLError, http.client.HTTPException),
)

Section = Mapping[str, Any]


def quick_list(
    kubeconfig: str | None, kind: str = CATALOGS, *, seconds: float = SECONDS
) -> list[dict[str, Any]] | None:
    """All objects of the kind; None if they cannot be had this way, or not in time."""
    try:
        if any(os.environ.get(name) or os.environ.get(name.lower()) for name in _PROXIES):
            return None
        return _list(Path(kubeconfig or _default()), kind, seconds)
    except _UNUSUAL:
        return None


def _default() -> str:
    if Path("/var/run/secrets/kubernetes.io/serviceaccount/token").exists():
        raise LookupError("in a pod its account counts")
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def _list(file: Path, kind: str, seconds: float) -> list[dict[str, Any]] | None:
    cluster, user = _sections(yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader))
    if cluster.keys() - _CLUSTER or user.keys() - _USER:
        return None
    url = urlsplit(cluster["server"])
    if url.scheme != "https" or not url.hostname:
        return None
    tls = _context(cluster, user, file.parent)
    connection = http.client.HTTPSConnection(
        url.hostname, url.port or 443, context=tls, timeout=seconds
    )
    with contextlib.closing(connection):
        headers = {"Accept": "application/json", **_authorization(user, file.parent)}
        path = f"/apis/olm.operatorframework.io/v1/{kind.lower()}s?limit=500"
        connection.request("GET", url.path.rstrip("/") + path, headers=headers)
        answer = connection.getresponse()
        found = orjson.loads(answer.read()) if answer.status == http.client.OK else {}
    if found.get("kind") != f"{kind}List" or found["metadata"].get("continue"):
        return None
    items: list[dict[str, Any]] = found["items"]
    return items


def _sections(config: Section) -> tuple[Section, Section]:
    """The cluster and the user of the current context. Raises LookupError."""

    def named(section: str, name: str) -> Section:
        found = [each for each in config[section] if each["name"] == name]
        inner: Section = found[0][section.removesuffix("s")] or {}
        return inner

    context = named("contexts", config["current-context"])
    return named("clusters", context["cluster"]), named("users", context["user"])


def _authorization(user: Section, folder: Path) -> dict[str, str]:
    token = user.get("token") or ""
    if user.get("tokenFile"):
        token = (folder / user["tokenFile"]).read_text().strip()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _context(cluster: Section, user: Section, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    authority = _data(cluster, "certificate-authority", folder)
    if authority is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=authority.decode())
    certificate = _data(user, "client-certificate", folder)
    key = _data(user, "client-key", folder)
    if certificate and key:
        # OpenSSL reads a chain from files only.
        with tempfile.TemporaryDirectory(prefix="olm-") as private:
            chain = Path(private, "chain.pem")
            chain.touch(mode=0o600)
            chain.write_bytes(certificate + b"\n" + key)
            context.load_cert_chain(chain)
    return context


def _data(section: Section, field: str, folder: Path) -> bytes | None:
    if section.get(f"{field}-data"):
        return base64.b64decode(section[f"{field}-data"])
    return (folder / section[field]).read_bytes() if section.get(field) else None
