"""Who gets which credentials, and in which form. Pure.

A registry answers 401 with a challenge that names a token server. That answer is not trusted:
credentials go to the registry's own host, or to a token server of the same site over TLS, never
elsewhere (a hostile registry could otherwise collect the cluster's pull secret). A site is what
one owner registers, by the public suffix list: everybody may have a name below co.uk or github.io.
"""

import base64
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from olm_runtime.images.challenges import Challenge
from olm_runtime.images.reference import ImageRef

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

DOCKER_HUB_KEYS = ("docker.io", "index.docker.io/v1", "index.docker.io", "registry-1.docker.io")
CLIENT_ID = "olm"
"""Who we are to a token server; it says nothing about rights."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What is known of a registry's user: a password, or what stands for one, or nothing.

    basic           base64 of `user:password`, as basic authentication sends it
    identity_token  what a token server gave at a login; it is for that server alone
    """

    basic: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.basic or self.identity_token)


NO_CREDENTIAL = Credential()


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """How a token server is asked: its form is posted, if there is one."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: bytes = field(default=b"", repr=False)


def encoded(user: str, password: str) -> str:
    """A user and password as files of logins hold them, and as basic authentication sends them."""
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def credential_for(auths: Mapping[str, Any], ref: ImageRef) -> Credential:
    """What is known for a reference.

    Keys of `auths` are hosts, or host and path; the longest that covers the repository wins, as
    containers-auth.json(5) has it.
    """
    best, found = -1, NO_CREDENTIAL
    for key, entry in auths.items():
        where = key.removeprefix("https://").removeprefix("http://").rstrip("/")
        known = _read(entry)
        if known and len(where) > best and _covers(where, ref):
            best, found = len(where), known
    return found


def choose(challenges: Sequence[Challenge], credential: Credential) -> Challenge | None:
    """The challenge to answer: a token server's before one that asks for a password each time."""
    bearer = (c for c in challenges if c.scheme == "bearer" and c.parameters.get("realm"))
    basic = (c for c in challenges if c.scheme == "basic" and credential.basic)
    return next(bearer, None) or next(basic, None)


def may_be_asked(realm: str, *, plain_http: bool) -> bool:
    """Whether a token server can be asked at all: over HTTPS, or as its registry is."""
    parts = urlsplit(realm)
    scheme_is_safe = parts.scheme == "https" or (plain_http and parts.scheme == "http")
    return scheme_is_safe and bool(parts.hostname)


def may_get_credentials(realm: str, registry: str) -> bool:
    """Whether a token server may see the credentials of a registry."""
    return _same_site((urlsplit(realm).hostname or "").lower(), host_of(registry))


def token_request(
    challenge: Challenge, scopes: Sequence[str], credential: Credential
) -> TokenRequest:
    """How to ask for a token of these scopes; there may be none.

    An identity token is traded as OAuth 2.0 has it (RFC 6749, section 6); a password is sent in
    the header of a GET, as the token protocol of registries has it.
    """
    realm = urlsplit(challenge.parameters["realm"])
    netloc = realm.netloc.rpartition("@")[2]
    service = challenge.parameters.get("service", "")
    parameters = {"service": service} if service else {}
    if credential.identity_token:
        trade = {"grant_type": "refresh_token", "refresh_token": credential.identity_token}
        trade |= {"scope": " ".join(scopes)} if scopes else {}
        return TokenRequest(
            urlunsplit(realm._replace(netloc=netloc, fragment="")),
            {"Content-Type": "application/x-www-form-urlencoded"},
            urlencode({**trade, "client_id": CLIENT_ID, **parameters}).encode(),
        )
    named = [("scope", scope) for scope in scopes]
    query = "&".join(filter(None, (realm.query, urlencode([*parameters.items(), *named]))))
    address = urlunsplit(realm._replace(netloc=netloc, query=query, fragment=""))
    headers = {"Authorization": f"Basic {credential.basic}"} if credential.basic else {}
    return TokenRequest(address, headers)


def host_of(registry: str) -> str:
    """The host name of `host[:port]`, in lower case."""
    return (urlsplit(f"//{registry}").hostname or "").lower()


def _read(entry: object) -> Credential:
    """An entry of a file of logins. With an identity token there is no password."""
    if not isinstance(entry, dict):
        return NO_CREDENTIAL
    if token := entry.get("identitytoken"):
        return Credential(identity_token=str(token))
    return Credential(basic=str(entry.get("auth") or ""))


def _covers(where: str, ref: ImageRef) -> bool:
    if ref.registry == "docker.io" and where in DOCKER_HUB_KEYS:
        return True
    return ref.name == where or ref.name.startswith(where + "/")


def _same_site(one: str, other: str) -> bool:
    """The same host, or both below a name that one owner has registered."""
    if one == other:
        return bool(one)
    if _is_address(one) or _is_address(other):
        return False
    site = _suffixes().privatesuffix(one)
    return site is not None and site == _suffixes().privatesuffix(other)


@cache
def _suffixes() -> "PublicSuffixList":
    """The public suffix list, as it is packaged. Read late: most token servers need no list."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
