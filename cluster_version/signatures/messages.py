"""Signed messages: data and one signature over it. Source of the rules: upstream's notes, 6.3."""

from collections.abc import Sequence
from datetime import datetime

from pysequoia.packet import Packet, Tag

from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.key_rings import KeyRing
from cluster_version.signatures.packets import FIRST_BIT, as_signature_errors, read_signature, split
from cluster_version.signatures.public_keys import check

MAX_MESSAGE = 1 << 16
"""Bytes of a message at most, for compressed ones grow; real ones have about a thousand."""

_ONE_PASS_VERSION = 3
_TEXT = 0x01
_ENCRYPTED = (Tag.PKESK, Tag.SKESK, Tag.SED, Tag.SEIP, Tag.AED)


def signed_content(message: bytes, ring: KeyRing, now: datetime) -> bytes:
    """The data of a message that one key of a ring signed. Raises SignatureError."""
    with as_signature_errors():
        return _signed_content(message, ring, now)


def _signed_content(message: bytes, ring: KeyRing, now: datetime) -> bytes:
    one_pass, literal, signature = _taken_apart(message)
    key_id = one_pass.ops_issuer
    signers = [key for key in ring if key.id == key_id]
    if not signers:
        raise SignatureError("invalid signature")
    read = read_signature(signature)
    content = literal.literal_data or b""
    if read.kind > _TEXT:
        raise SignatureError(f"unsupported signature type {read.kind}")
    if tuple(one_pass.body[:3]) != (_ONE_PASS_VERSION, read.kind, read.hash):
        raise SignatureError("the signature is not the one that was announced")
    check(signers[0], read, _with_line_ends(content) if read.kind == _TEXT else content)
    if read.lifetime is not None and now > read.created + read.lifetime:
        raise SignatureError(f"signature expired on {read.created + read.lifetime}")
    return content


def _taken_apart(message: bytes) -> tuple[Packet, Packet, Packet]:
    """The one-pass signature, the data, and the signature of a message. Raises SignatureError."""
    if not message or not message[0] & FIRST_BIT:
        raise SignatureError("could not read the message: it is not in binary form")
    if len(message) > MAX_MESSAGE:
        raise SignatureError(f"could not read the message: it has more than {MAX_MESSAGE} bytes")
    packets = split(message)
    if any(packet.tag in _ENCRYPTED for packet in packets):
        raise SignatureError("could not read the message: it is encrypted")
    at = _first(packets, Tag.Literal)
    if at is None:
        raise SignatureError("could not read the message: it holds no data")
    one_pass = [packet for packet in packets[:at] if packet.tag == Tag.OnePassSig]
    if not one_pass:
        raise SignatureError("not signed")
    if any(not packet.body[-1] for packet in one_pass):
        raise SignatureError("could not read the message: nested signatures are not supported")
    following = packets[at + 1 : at + 2]
    if not following or following[0].tag != Tag.Signature:
        raise SignatureError("signature error: the data is not followed by a signature")
    return one_pass[-1], packets[at], following[0]


def _first(packets: Sequence[Packet], tag: Tag) -> int | None:
    return next((at for at, packet in enumerate(packets) if packet.tag == tag), None)


def _with_line_ends(text: bytes) -> bytes:
    """A text as signatures of texts hash it."""
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
