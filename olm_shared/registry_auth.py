"""Who may be told which credentials. Pure.

A registry answers 401 with a challenge that names a token server. That answer is not trusted:
credentials go to the registry's own host, or to a token server of the same site over TLS, never
elsewhere (a hostile registry could otherwise collect the cluster's pull secret).
"""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from olm_shared.image_ref import ImageRef

DOCKER_HUB_KEYS = ("docker.io", "index.docker.io/v1", "index.docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True)
class Challenge:
    """A WWW-Authenticate header: `scheme` in lower case, "bearer" or "basic"."""

    scheme: str
    realm: str = ""
    service: str = ""
    scope: str = ""


def credential_for(auths: Mapping[str, Any], ref: ImageRef) -> str:
    """The base64 `user:password` for a reference, or the empty string.

    Keys of `auths` are hosts, or host and path; the longest that covers the repository wins, as
    containers-auth.json(5) has it.
    """
    best, found = -1, ""
    for key, entry in auths.items():
        value = entry.get("auth") if isinstance(entry, dict) else None
        where = key.removeprefix("https://").removeprefix("http://").rstrip("/")
        if value and len(where) > best and _covers(where, ref):
            best, found = len(where), str(value)
    return found


def may_send_credentials(realm: str, registry: str, *, plain_http: bool) -> bool:
    """Whether a token server may see the credentials of a registry."""
    parts = urlsplit(realm)
    if parts.scheme != "https" and not (plain_http and parts.scheme == "http"):
        return False
    return _same_site((parts.hostname or "").lower(), host_of(registry))


def host_of(registry: str) -> str:
    """The host name of `host[:port]`, in lower case."""
    return (urlsplit(f"//{registry}").hostname or "").lower()


def _covers(where: str, ref: ImageRef) -> bool:
    if ref.registry == "docker.io" and where in DOCKER_HUB_KEYS:
        return True
    return ref.name == where or ref.name.startswith(where + "/")


def _same_site(one: str, other: str) -> bool:
    """The same host, or one below the other's domain: auth.quay.io and quay.io, and siblings."""
    if one == other:
        return bool(one)
    if _is_address(one) or _is_address(other):
        return False
    ours, theirs = one.split(".")[-2:], other.split(".")[-2:]
    if len(ours) < 2 or ours != theirs:
        return False
    # Two labels may be a public suffix (co.uk): then only a domain below the other counts.
    return len(ours[0]) > 3 or one.endswith("." + other) or other.endswith("." + one)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
