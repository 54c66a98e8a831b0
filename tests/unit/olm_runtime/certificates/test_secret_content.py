"""What is issued, and what is read back from a Secret."""

import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from olm_runtime.certificates.content import BACKDATE
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import issued, prepared
from olm_runtime.certificates.secret import parse
from tests.unit.olm_runtime.certificates.cases import DNS_NAMES, LIFETIME, NOW, SETTLE

ISSUE = issuer(LIFETIME)
CONTENT = issued(ISSUE(DNS_NAMES, NOW))
ROTATING = prepared(CONTENT, ISSUE(DNS_NAMES, NOW + LIFETIME * 0.7), NOW + LIFETIME * 0.7)


def test_what_is_written_is_read_back() -> None:
    assert parse(CONTENT.data(), DNS_NAMES) == CONTENT
    assert parse(ROTATING.data(), DNS_NAMES) == ROTATING


def test_no_key_of_a_ca_is_kept() -> None:
    assert set(CONTENT.data()) == {"tls.crt", "tls.key", "ca.crt"}
    assert set(ROTATING.data()) - set(CONTENT.data()) == {"next.crt", "next.key"}
    assert b"PRIVATE" not in base64.b64decode(ROTATING.data()["ca.crt"])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"tls.crt": ""}, id="nothing in it yet"),
        pytest.param({"tls.crt": "%%%"}, id="no base64"),
        pytest.param({"tls.key": "bm8ga2V5"}, id="no key"),
        pytest.param({"ca.crt": ""}, id="no CA"),
        pytest.param({"tls.key": ROTATING.data()["next.key"]}, id="the key of another"),
        pytest.param(
            {"ca.crt": issued(ISSUE(DNS_NAMES, NOW)).data()["ca.crt"]}, id="the CA of another"
        ),
    ],
)
def test_what_cannot_be_served_with_counts_as_nothing(change: dict[str, Any]) -> None:
    assert parse(CONTENT.data() | change, DNS_NAMES) is None


def test_a_certificate_for_other_names_counts_as_nothing() -> None:
    assert parse(CONTENT.data(), ("other.install.svc",)) is None


def test_a_broken_successor_is_as_good_as_none() -> None:
    found = parse(ROTATING.data() | {"next.crt": "%%%"}, DNS_NAMES)
    assert found is not None
    assert (found.current, found.next) == (CONTENT.current, None)


def test_the_certificate_is_trusted_for_its_names_and_no_others() -> None:
    (authority,) = x509.load_pem_x509_certificates(CONTENT.bundle)
    certificate = x509.load_pem_x509_certificate(CONTENT.current.certificate)
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    certificate.verify_directly_issued_by(authority)
    limits = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert limits.critical
    assert [str(name.value) for name in limits.value.permitted_subtrees or ()] == list(DNS_NAMES)
    verifier = PolicyBuilder().store(Store([authority])).time(NOW + SETTLE)
    for name in DNS_NAMES:
        verifier.build_server_verifier(x509.DNSName(name)).verify(certificate, [])
    with pytest.raises(VerificationError):
        verifier.build_server_verifier(x509.DNSName("else.svc")).verify(certificate, [])


def test_times_are_those_of_the_issue_and_clocks_may_differ_a_little() -> None:
    certificate = x509.load_pem_x509_certificate(CONTENT.current.certificate)
    assert certificate.not_valid_before_utc == NOW - BACKDATE
    assert (CONTENT.current.issued_at, CONTENT.current.expires_at) == (NOW, NOW + LIFETIME)


def test_a_server_can_load_it(tmp_path: Path) -> None:
    pem = tmp_path / "pair.pem"
    pem.write_bytes(CONTENT.current.certificate + CONTENT.current.key)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(pem)


def test_names_longer_than_a_common_name_may_be_are_fine() -> None:
    long = (f"{'s' * 63}.{'n' * 63}", f"{'s' * 63}.{'n' * 63}.svc")
    assert parse(issued(ISSUE(long, NOW)).data(), long) is not None
