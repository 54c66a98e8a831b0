"""Who asks: identities, as certificates and the headers of a front proxy name them. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

import orjson
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import NameOID

from olm_runtime.errors import TransientError

ANONYMOUS, UNAUTHENTICATED = "system:anonymous", "system:unauthenticated"
AUTHENTICATED = "system:authenticated"
CONFIGURATION = "extension-apiserver-authentication"
"""The ConfigMap, in kube-system, with which the API server says how it passes requests on."""
CLIENT_CA_KEY = "client-ca-file"

Headers = Iterable[tuple[bytes, bytes]]
"""As ASGI has them: names in small letters."""


class BadConfigurationError(TransientError):
    """A ConfigMap that does not say how requests are passed on. Heals when it is mended."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A user, as the API server knows him; `extra` has names and values."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def authenticated(self) -> "Identity":
        """The same, in the group of all who are somebody: a front proxy need not say so."""
        if self.user == ANONYMOUS or {AUTHENTICATED, UNAUTHENTICATED} & set(self.groups):
            return self
        return replace(self, groups=(*self.groups, AUTHENTICATED))

    def reviewed(self) -> dict[str, Any]:
        """The fields of a SubjectAccessReview."""
        extra = {name: list(values) for name, values in self.extra}
        return {"user": self.user, "uid": self.uid, "groups": list(self.groups), "extra": extra}


NOBODY = Identity(ANONYMOUS, groups=(UNAUTHENTICATED,))


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """Who may say for whom he asks, and in which headers.

    authorities     CAs (PEM) of its certificates
    names           common names of its certificates; none for any
    extra_prefixes  of headers whose rest is a name; all headers in small letters
    """

    authorities: str
    names: frozenset[str]
    user_headers: Sequence[str]
    uid_headers: Sequence[str]
    group_headers: Sequence[str]
    extra_prefixes: Sequence[str]

    def identity(self, headers: Headers) -> Identity | None:
        """For whom it asks; None if it does not say."""
        given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        user = _first(given, self.user_headers)
        if not user:
            return None
        wanted = {name.lower() for name in self.group_headers}
        groups = tuple(value for name, value in given if name in wanted)
        return Identity(user, _first(given, self.uid_headers), groups, self._extra(given))

    def _extra(self, given: Sequence[tuple[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        found: dict[str, list[str]] = {}
        for name, value in given:
            for prefix in self.extra_prefixes:
                if name.startswith(prefix.lower()):
                    found.setdefault(unquote(name[len(prefix) :]), []).append(value)
        return tuple((name, tuple(values)) for name, values in sorted(found.items()))


def read_front_proxy(data: Mapping[str, str]) -> FrontProxy | None:
    """What `data` of the ConfigMap says; None if nothing is passed on.

    Raises BadConfigurationError.
    """
    authorities = data.get("requestheader-client-ca-file")
    if not authorities:
        return None
    return FrontProxy(
        authorities,
        frozenset(_names(data, "requestheader-allowed-names")),
        _names(data, "requestheader-username-headers"),
        _names(data, "requestheader-uid-headers"),
        _names(data, "requestheader-group-headers"),
        _names(data, "requestheader-extra-headers-prefix"),
    )


def _names(data: Mapping[str, str], key: str) -> tuple[str, ...]:
    try:
        found = orjson.loads(data.get(key) or "[]")
    except orjson.JSONDecodeError as error:
        raise BadConfigurationError(f"{key} of ConfigMap {CONFIGURATION} is no JSON") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise BadConfigurationError(f"{key} of ConfigMap {CONFIGURATION} is no list of names")
    return tuple(found)


def _first(given: Sequence[tuple[str, str]], names: Sequence[str]) -> str:
    """The value of the first of these headers that has one."""
    for wanted in names:
        for name, value in given:
            if name == wanted.lower() and value:
                return value
    return ""


def bearer_token(headers: Headers) -> str:
    """The token that a caller brings; empty for none."""
    for name, value in headers:
        if name == b"authorization":
            match = re.fullmatch(r"bearer +(\S+)", value.decode("latin-1").strip(), re.IGNORECASE)
            return match[1] if match else ""
    return ""


def authorities_in(pem: str | None) -> tuple[x509.Certificate, ...]:
    """The CAs of a PEM text, none of None. Raises BadConfigurationError."""
    if not pem:
        return ()
    try:
        return tuple(x509.load_pem_x509_certificates(pem.encode()))
    except ValueError as error:
        raise BadConfigurationError(f"a CA for callers cannot be read: {error}") from error


def is_of(certificate: x509.Certificate, authorities: Iterable[x509.Certificate]) -> bool:
    """Whether one of the CAs itself has signed a certificate."""
    for authority in authorities:
        try:
            certificate.verify_directly_issued_by(authority)
        except (ValueError, TypeError, InvalidSignature):
            continue
        return True
    return False


def identity_in(certificate: x509.Certificate) -> Identity:
    """The common name is the user, organizations are groups."""
    groups = _values(certificate, NameOID.ORGANIZATION_NAME)
    return Identity(common_name(certificate), groups=tuple(groups))


def common_name(certificate: x509.Certificate) -> str:
    """The first one; empty for none."""
    return next(iter(_values(certificate, NameOID.COMMON_NAME)), "")


def _values(certificate: x509.Certificate, oid: x509.ObjectIdentifier) -> list[str]:
    return [str(each.value) for each in certificate.subject.get_attributes_for_oid(oid)]
