"""Certificate authorities and certificates for everything that speaks TLS in tests and demos.

Keys are EC P-256: they take a fraction of a millisecond, RSA keys take tens of them.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=365)
# Clocks of virtual machines jump; a certificate must not be from the future.
BACKDATE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Validity:
    """When a certificate is valid. Tests of expiry make their own."""

    not_before: datetime
    not_after: datetime

    @classmethod
    def from_now(cls, lifetime: timedelta = LIFETIME) -> "Validity":
        """Valid from a little before now until `lifetime` after now."""
        now = datetime.fromtimestamp(time.time(), tz=UTC)
        return cls(now - BACKDATE, now + lifetime)


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, PEM."""

    certificate: bytes
    key: bytes

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Write NAME.crt and NAME.key (mode 0600) into `folder`; their paths in that order."""
        folder.mkdir(parents=True, exist_ok=True)
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_bytes(self.certificate)
        write_private(key, self.key)
        return certificate, key


class CertificateAuthority:
    """A self-signed authority that issues server and client certificates."""

    def __init__(self, pair: KeyPair) -> None:
        """Take up an authority from its PEM pair; ValueError if the pair is not one of ours."""
        key = serialization.load_pem_private_key(pair.key, password=None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the key of the certificate authority is not an EC key")  # noqa: TRY004 - the file is wrong, not the caller's type
        self.pair = pair
        self._key = key
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)

    @classmethod
    def create(
        cls, common_name: str, *, validity: Validity | None = None
    ) -> "CertificateAuthority":
        """Make a new authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(common_name, ())
        usage = _key_usage(signs_certificates=True)
        certificate = (
            _builder(name, name, key, validity or Validity.from_now())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        return cls(_key_pair(certificate, key))

    @classmethod
    def load_or_create(cls, folder: Path, name: str) -> "CertificateAuthority":
        """The authority stored in `folder` as NAME.crt and NAME.key; made there if absent."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        if certificate.is_file() and key.is_file():
            return cls(KeyPair(certificate.read_bytes(), key.read_bytes()))
        authority = cls.create(name)
        authority.pair.write(folder, name)
        return authority

    @property
    def certificate(self) -> bytes:
        """The authority's certificate, PEM: what the other side has to trust."""
        return self.pair.certificate

    def issue_server(
        self, common_name: str, *, hosts: Sequence[str], validity: Validity | None = None
    ) -> KeyPair:
        """A server certificate for `hosts`: DNS names and IP addresses."""
        names = x509.SubjectAlternativeName([_alternative_name(host) for host in hosts])
        subject = _name(common_name, ())
        return self._issue(subject, [ExtendedKeyUsageOID.SERVER_AUTH], validity, names)

    def issue_client(
        self, user: str, groups: Sequence[str] = (), *, validity: Validity | None = None
    ) -> KeyPair:
        """A client certificate; to Kubernetes the CN is the user and each O is a group."""
        return self._issue(_name(user, groups), [ExtendedKeyUsageOID.CLIENT_AUTH], validity)

    def _issue(
        self,
        subject: x509.Name,
        usages: Sequence[x509.ObjectIdentifier],
        validity: Validity | None,
        names: x509.SubjectAlternativeName | None = None,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self._certificate.subject
        authority_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _builder(subject, issuer, key, validity or Validity.from_now())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(authority_key, critical=False)
        )
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        return _key_pair(builder.sign(self._key, hashes.SHA256()), key)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, never readable by others in between."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def private_key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as unencrypted PKCS#8 PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_key_pem(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key as PEM."""
    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, validity: Validity
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.not_before)
        .not_valid_after(validity.not_after)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _key_pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), private_key_pem(key))


def _name(common_name: str, organizations: Sequence[str]) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )
