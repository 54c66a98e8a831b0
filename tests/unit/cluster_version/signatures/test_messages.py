"""Which signed messages count."""

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysequoia import CipherSuite, SignatureMode, Tsk, sign
from pysequoia.packet import PacketPile, Tag

from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.key_rings import KeyRing, read_key_ring
from cluster_version.signatures.messages import MAX_MESSAGE, signed_content
from olm_runtime.clocks import utc_now
from tests.openpgp import (
    BEGAN,
    BZIP2,
    ZIP,
    ZLIB,
    Signer,
    compressed,
    literal,
    packet,
    subpacket,
)

CONTENT = b"what is said"
NOW = BEGAN + timedelta(days=100)
LIFETIME, REVOCATION_REASON, FLAGS = 3, 29, 27
UNSIGNED = {9, 18, 25, *range(27, 31)}
"""Where the first signature names its kind of key and is the last, and data its form and date."""
DAY = (24 * 60 * 60).to_bytes(4)


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def other() -> Signer:
    return Signer()


@pytest.fixture(scope="module")
def ring(signer: Signer) -> KeyRing:
    return read_key_ring(signer.certificate())


def refused(message: bytes, ring: KeyRing) -> str:
    with pytest.raises(SignatureError) as caught:
        signed_content(message, ring, NOW)
    return caught.value.message


def test_a_message_that_another_program_signed_counts() -> None:
    key = Tsk.generate("somebody@example.com", cipher_suite=CipherSuite.RSA2k)
    ring = read_key_ring(bytes(key.extract_certificate()))
    armoured = read_key_ring(str(key.extract_certificate()).encode())
    assert [each.id for each in armoured] == [each.id for each in ring]
    made = sign(key.signer(), CONTENT, mode=SignatureMode.INLINE)
    message = b"".join(bytes(each) for each in PacketPile.from_bytes(made))
    assert signed_content(message, ring, utc_now()) == CONTENT
    assert refused(made, ring) == "could not read the message: it is not in binary form"


@pytest.mark.parametrize("algorithm", [ZIP, ZLIB, BZIP2])
def test_a_compressed_message_counts(signer: Signer, ring: KeyRing, algorithm: int) -> None:
    assert signed_content(compressed(signer.message(CONTENT), algorithm), ring, NOW) == CONTENT


def test_sha_1_counts(signer: Signer, ring: KeyRing) -> None:
    assert signed_content(signer.message(CONTENT, hashed_with=2), ring, NOW) == CONTENT


def test_a_signature_counts_until_it_expires(signer: Signer, ring: KeyRing) -> None:
    message = signer.message(CONTENT, hashed=subpacket(LIFETIME, DAY))
    assert signed_content(message, ring, BEGAN + timedelta(hours=23)) == CONTENT
    assert refused(message, ring) == "signature expired on 2026-01-02 00:00:00+00:00"


def test_a_key_counts_past_its_expiry(signer: Signer) -> None:
    expired = read_key_ring(signer.certificate(hashed=subpacket(9, DAY)))
    assert signed_content(signer.message(CONTENT), expired, NOW) == CONTENT


def test_a_changed_byte_is_found_wherever_it_is(signer: Signer, ring: KeyRing) -> None:
    message = signer.message(CONTENT)
    for at in set(range(len(message))) - UNSIGNED:
        changed = bytearray(message)
        changed[at] ^= 0x40
        with pytest.raises(SignatureError):
            signed_content(bytes(changed), ring, NOW)


def test_packets_of_unknown_kinds_do_not_count(signer: Signer, ring: KeyRing) -> None:
    unknown = packet(60, b"private")
    message = signer.one_pass() + unknown + literal(CONTENT) + signer.signature(CONTENT)
    assert signed_content(message, ring, NOW) == CONTENT
    assert len(read_key_ring(signer.certificate() + unknown)) == 1
    assert "not followed" in refused(signer.one_pass() + literal(CONTENT) + packet(21, b""), ring)


@pytest.mark.property
@given(data=st.data())
def test_whatever_becomes_of_a_message_or_a_key_is_an_answer(
    signer: Signer, ring: KeyRing, data: st.DataObject
) -> None:
    given_ones = (signer.message(CONTENT), compressed(signer.message(CONTENT), BZIP2))
    for original, read in (
        (data.draw(st.sampled_from(given_ones)), lambda found: signed_content(found, ring, NOW)),
        (signer.certificate(), read_key_ring),
    ):
        changed = bytearray(original)
        for _ in range(data.draw(st.integers(1, 5))):
            at = data.draw(st.integers(0, len(changed) - 1))
            changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        with suppress(SignatureError):
            read(bytes(changed))


def test_what_is_cut_off_does_not_count(signer: Signer, ring: KeyRing) -> None:
    message = compressed(signer.message(CONTENT), BZIP2)
    for end in (1, 20, len(message) // 2, len(message) - 1):
        with pytest.raises(SignatureError):
            signed_content(message[:end], ring, NOW)


def test_a_key_outside_of_the_ring_does_not_count(other: Signer, ring: KeyRing) -> None:
    assert refused(other.message(CONTENT), ring) == "invalid signature"


def test_a_key_that_borrows_an_id_does_not_count(signer: Signer, other: Signer) -> None:
    ring = read_key_ring(signer.certificate())
    forged = signer.one_pass() + literal(CONTENT) + other.signature(CONTENT)
    assert "does not match" in refused(forged, ring) or "not made" in refused(forged, ring)


def test_messages_of_another_form_do_not_count(
    signer: Signer, other: Signer, ring: KeyRing
) -> None:
    nested = signer.one_pass(is_last=False) + other.one_pass() + literal(CONTENT)
    nested += other.signature(CONTENT) + signer.signature(CONTENT)
    assert "nested" in refused(nested, ring)
    assert "no data" in refused(signer.signature(CONTENT), ring)
    assert refused(signer.signature(CONTENT) + literal(CONTENT), ring) == "not signed"
    assert refused(literal(CONTENT), ring) == "not signed"
    assert "not followed" in refused(signer.one_pass() + literal(CONTENT), ring)
    assert "encrypted" in refused(packet(18, b"\x01" + bytes(40)), ring)
    assert "bytes" in refused(signer.message(bytes(MAX_MESSAGE)), ring)
    assert "binary" in refused(b"", ring)


def test_a_revoked_key_does_not_sign(signer: Signer) -> None:
    reason = subpacket(REVOCATION_REASON, b"\0lost")
    revocation = signer.signature(signer.hashed, 0x20, hashed=reason)
    assert read_key_ring(signer.certificate(before_user_id=revocation)) == ()


def test_a_key_that_only_certifies_leaves_signing_to_its_subkeys(
    signer: Signer, other: Signer
) -> None:
    only_certifies = signer.certificate(hashed=subpacket(FLAGS, b"\x01"))
    assert read_key_ring(only_certifies) == ()
    ring = read_key_ring(only_certifies + signer.subkey(other))
    assert signed_content(other.message(CONTENT), ring, NOW) == CONTENT
    assert read_key_ring(only_certifies + signer.subkey(other, kind=0x28)) == ()


def test_keys_that_cannot_be_read_are_left_out_while_another_can(signer: Signer) -> None:
    ed25519 = bytes(Tsk.generate("x@example.com").extract_certificate())
    assert len(read_key_ring(ed25519 + signer.certificate())) == 1
    with pytest.raises(SignatureError, match="algorithm"):
        read_key_ring(ed25519)
    with pytest.raises(SignatureError, match="OpenPGP"):
        read_key_ring(b"no key")
    with pytest.raises(SignatureError, match="no public key"):
        read_key_ring(literal(CONTENT))
    assert read_key_ring(b"") == ()


def test_a_key_without_a_user_id_of_its_own_does_not_sign(signer: Signer, other: Signer) -> None:
    assert read_key_ring(packet(6, signer.body)) == ()
    stolen = packet(6, other.body) + b"".join(
        bytes(each)
        for each in PacketPile.from_bytes(signer.certificate())
        if each.tag in (Tag.UserID, Tag.Signature)
    )
    assert read_key_ring(stolen) == ()
