"""Reads the content of Secrets with certificates. Apart from it: cryptography takes 9 MiB."""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from api.objects import TLS_CERTIFICATE, TLS_PRIVATE_KEY
from olm_runtime.certificates.content import (
    AUTHORITIES_KEY,
    BACKDATE,
    NEXT_CERTIFICATE_KEY,
    NEXT_PRIVATE_KEY_KEY,
    Authority,
    Pair,
    SecretContent,
)

MAX_AUTHORITIES = 8
"""CAs that are preserved when a Secret is lost, its own among them."""


class _UnusableError(ValueError):
    """What a Secret holds cannot be served with."""


def parse(data: Mapping[str, str], dns_names: Sequence[str]) -> SecretContent | None:
    """What `data` of a Secret holds for a server of these names; None if it is of no use.

    Of use is a certificate for exactly these names that goes with its key and that one of the
    CAs signed. A next certificate that is not of use counts as none.
    """
    try:
        authorities = x509.load_pem_x509_certificates(_decoded(data, AUTHORITIES_KEY))
        current = _pair(data, (TLS_CERTIFICATE, TLS_PRIVATE_KEY), dns_names, authorities)
    except ValueError:
        return None
    following: Pair | None
    try:
        names = NEXT_CERTIFICATE_KEY, NEXT_PRIVATE_KEY_KEY
        following = _pair(data, names, dns_names, authorities)
    except ValueError:
        following = None
    return SecretContent(current, tuple(map(authority_of, authorities)), following)


def with_authorities(content: SecretContent, bundles: Iterable[bytes]) -> SecretContent:
    """The content with the CAs of bundles (PEM) behind its own, each once; no more than a few.

    What is no bundle is left out: others may have written it.
    """
    found = {each.certificate: each for each in content.authorities}
    for bundle in bundles:
        try:
            certificates = x509.load_pem_x509_certificates(bundle)
        except ValueError:
            continue
        found |= {each.certificate: each for each in map(authority_of, certificates)}
    return replace(content, authorities=tuple(found.values())[:MAX_AUTHORITIES])


def authority_of(certificate: x509.Certificate) -> Authority:
    """A CA as Secrets have it."""
    return Authority(pem(certificate), certificate.not_valid_after_utc)


def pair_of(certificate: x509.Certificate, key: bytes) -> Pair:
    """A certificate and its key (PEM) as Secrets have them."""
    issued_at = certificate.not_valid_before_utc + BACKDATE
    return Pair(pem(certificate), key, issued_at, certificate.not_valid_after_utc)


def pem(certificate: x509.Certificate) -> bytes:
    """A certificate in PEM."""
    return certificate.public_bytes(Encoding.PEM)


def _decoded(data: Mapping[str, str], key: str) -> bytes:
    try:
        return base64.b64decode(data.get(key) or "", validate=True)
    except binascii.Error as error:
        raise _UnusableError(f"{key} is no base64") from error


def _pair(
    data: Mapping[str, str],
    keys: tuple[str, str],
    dns_names: Sequence[str],
    authorities: Sequence[x509.Certificate],
) -> Pair:
    certificate = x509.load_pem_x509_certificate(_decoded(data, keys[0]))
    key = _decoded(data, keys[1])
    if load_pem_private_key(key, None).public_key() != certificate.public_key():
        raise _UnusableError("the key is of another certificate")
    if set(names_of(certificate)) != set(dns_names):
        raise _UnusableError("the certificate is for other names")
    if not any(is_signed_by(certificate, authority) for authority in authorities):
        raise _UnusableError("none of the CAs signed the certificate")
    return pair_of(certificate, key)


def names_of(certificate: x509.Certificate) -> list[str]:
    """The DNS names that a certificate is for."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return found.value.get_values_for_type(x509.DNSName)


def is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Whether a CA signed a certificate itself."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True
