"""Certificates in Secrets and ConfigMaps, and whether they go together. Pure."""

import base64
import binascii
from collections.abc import Iterable

from cryptography import x509

from api.objects import TLS_CERTIFICATE, KubeObject
from olm_runtime.certificates.content import AUTHORITIES_KEY
from olm_runtime.certificates.secret import is_signed_by, names_of


def certificate_of(secret: KubeObject) -> x509.Certificate | None:
    """What a Secret serves with; None if that is no certificate."""
    found = _parsed(_decoded((secret.get("data") or {}).get(TLS_CERTIFICATE)))
    return found[0] if found else None


def authorities_of(encoded: str) -> list[x509.Certificate]:
    """The CAs of a `caBundle`."""
    return _parsed(_decoded(encoded))


def trusted_in(obj: KubeObject) -> list[x509.Certificate]:
    """The CAs in a Secret or ConfigMap: all certificates of any key but what is served with."""
    data = obj.get("data") or {}
    if obj.get("kind") == "Secret":
        return _parsed(_decoded(data.get(AUTHORITIES_KEY)))
    return [each for text in data.values() for each in _parsed(str(text).encode())]


def is_signed_by_any(
    certificate: x509.Certificate, authorities: Iterable[x509.Certificate]
) -> bool:
    """Whether one of the CAs signed a certificate, or it is one of them itself."""
    return any(
        certificate == authority or is_signed_by(certificate, authority)
        for authority in authorities
    )


def is_for(secret: KubeObject, host: str) -> bool:
    """Whether a Secret serves with a certificate for a host."""
    certificate = certificate_of(secret)
    return certificate is not None and host in names_of(certificate)


def _decoded(text: object) -> bytes:
    try:
        return base64.b64decode(str(text or ""), validate=True)
    except binascii.Error:
        return b""


def _parsed(data: bytes) -> list[x509.Certificate]:
    """The certificates in PEM; a text that has none, or a broken one, has none."""
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError:
        return []
