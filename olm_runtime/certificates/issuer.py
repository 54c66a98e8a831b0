"""Makes keys and certificates. Not pure: keys are random.

Every certificate gets a CA of its own whose key is gone when `issue` returns. The CA may sign
for the names of its service only, so even a stolen one would certify nothing else.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from olm_runtime.certificates.content import BACKDATE, Fresh
from olm_runtime.certificates.rotation import Issue
from olm_runtime.certificates.secret import authority_of, pair_of

MAX_COMMON_NAME = 64
"""Of X.520; longer names are in the extension for names only."""

_NO_USAGE = dict.fromkeys(
    (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
        "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    ),
    False,
)  # fmt: skip


def issuer(lifetime: timedelta, authority_name: str = "webhook CA") -> Issue:
    """What issues certificates that last so long.

    `authority_name` and a random number name the CA of each.
    """

    def issue(dns_names: Sequence[str], now: datetime) -> Fresh:
        ends = now + lifetime
        name = _name(f"{authority_name} {x509.random_serial_number():x}")
        signing_key, signer = _authority(name, dns_names, (now, ends))
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(_name(dns_names[0]), signer.subject, key, (now, ends))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage("digital_signature"), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(_dns(dns_names)), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()),
                critical=False,
            )
            .sign(signing_key, hashes.SHA256())
        )
        pem_key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Fresh(pair_of(certificate, pem_key), authority_of(signer))

    return issue


def _authority(
    name: x509.Name, dns_names: Sequence[str], lasts: tuple[datetime, datetime]
) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(name, name, key, lasts)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage("key_cert_sign"), critical=True)
        .add_extension(x509.NameConstraints(_dns(dns_names), None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return key, certificate


def _builder(
    subject: x509.Name,
    signer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    lasts: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    public = key.public_key()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(lasts[0] - BACKDATE)
        .not_valid_after(lasts[1])
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )


def _usage(name: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{**_NO_USAGE, name: True})


def _dns(names: Sequence[str]) -> list[x509.GeneralName]:
    return [x509.DNSName(name) for name in names]


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:MAX_COMMON_NAME])])
