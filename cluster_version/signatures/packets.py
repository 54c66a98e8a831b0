"""Packets of OpenPGP as far as signatures need them: RFC 4880, sections 3.2, 4, 5.2 and 5.5.

pysequoia takes messages apart, and undoes armour and compression. What is in a signature and a key
is read here, as its own verification refuses SHA-1 and keys past their expiry date, which count
for releases.
"""

import bz2
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from pysequoia.packet import Packet, PacketPile, Tag

from cluster_version.signatures.errors import SignatureError

FIRST_BIT = 0x80
"""Set in the first byte of every message that is not armoured."""
V3, V4 = 3, 4

MAX_DEPTH = 8
MAX_UNPACKED = 1 << 20
"""Bytes of a compressed packet at most, as pysequoia has it for the packets in one."""

_BZIP2 = b"\x03"
_V3_HASHED = 5
"""Bytes of a signature of version 3 that are hashed: its type and its time."""


@dataclass(frozen=True, slots=True)
class SignaturePacket:
    """A signature. `trailer` is what is hashed after the data, `numbers` what the signer computed.

    tag       the first two bytes of the hash
    lifetime  how long it is valid, None for ever
    """

    kind: int
    algorithm: int
    hash: int
    trailer: bytes
    tag: bytes
    numbers: tuple[int, ...]
    created: datetime
    lifetime: timedelta | None
    may_sign: bool | None
    """What it says of the key that it certifies; None if nothing."""
    is_primary: bool
    """Whether it certifies the user ID that stands for the key."""


def split(data: bytes) -> list[Packet]:
    """The packets of a message or of keys, with those in compressed ones in place of these.

    Raises SignatureError for what is none.
    """
    return list(_flat(data, MAX_DEPTH))


@contextmanager
def as_signature_errors() -> Iterator[None]:
    """Raises SignatureError for what pysequoia cannot make out, as it is parsed or looked at."""
    try:
        yield
    except RuntimeError as error:
        problem = str(error).partition("\n")[0]
        raise SignatureError(f"no OpenPGP packets: {problem}") from error


def _flat(data: bytes, depth: int) -> Iterator[Packet]:
    if not depth:
        raise SignatureError("compressed packets are in each other too deeply")
    with as_signature_errors():
        packets = [each for each in PacketPile.from_bytes(data) if _is_known(each)]
    for packet in packets:
        if packet.tag != Tag.CompressedData:
            yield packet
            continue
        with as_signature_errors():
            body = packet.body
        if body[:1] == _BZIP2:
            yield from _flat(_without_bzip2(body[1:]), depth - 1)


def _is_known(packet: Packet) -> bool:
    """Whether a packet is of a kind that there is; others do not count."""
    try:
        return packet.tag is not None
    except RuntimeError:
        return False


def _without_bzip2(data: bytes) -> bytes:
    """pysequoia undoes the other compressions, but not this one. Raises SignatureError."""
    try:
        return bz2.BZ2Decompressor().decompress(data, MAX_UNPACKED)
    except (OSError, ValueError) as error:
        raise SignatureError(f"no OpenPGP packets: {error}") from error


def read_signature(packet: Packet) -> SignaturePacket:
    """Takes a signature apart. Raises SignatureError for a version that there is no rule for."""
    body = packet.body
    try:
        if body[0] == V4:
            kind, algorithm, hashed_with = body[1], body[2], body[3]
            trailer, rest = _hashed(body), body[_tag_at(body) :]
        elif body[0] == V3 and body[1] == _V3_HASHED:
            kind, algorithm, hashed_with = body[2], body[15], body[16]
            trailer, rest = body[2 : 2 + _V3_HASHED], body[17:]
        else:
            raise SignatureError(f"signature packet version {body[0]} is not supported")
        numbers = read_numbers(rest[2:])
    except IndexError as error:
        raise SignatureError("the signature packet is too short") from error
    created = packet.signature_created
    if created is None:
        raise SignatureError("no creation time in signature")
    flags = packet.key_flags
    return SignaturePacket(
        kind=kind,
        algorithm=algorithm,
        hash=hashed_with,
        trailer=trailer,
        tag=rest[:2],
        numbers=numbers,
        created=created,
        lifetime=packet.signature_validity_period,
        may_sign=None if flags is None else flags.signing,
        is_primary=bool(packet.primary_userid),
    )


def _hashed(body: bytes) -> bytes:
    """What is hashed after the data, of a signature of version 4."""
    until = 6 + int.from_bytes(body[4:6])
    return body[:until] + bytes((V4, 0xFF)) + until.to_bytes(4)


def _tag_at(body: bytes) -> int:
    """Where the first bytes of the hash are in a signature of version 4."""
    until = 6 + int.from_bytes(body[4:6])
    return until + 2 + int.from_bytes(body[until : until + 2])


def read_numbers(data: bytes) -> tuple[int, ...]:
    """Multiprecision integers, each after its length in bits. Raises SignatureError."""
    found = []
    while data:
        end = 2 + (int.from_bytes(data[:2]) + 7) // 8
        if len(data) < end:
            raise SignatureError("a number is cut off")
        found.append(int.from_bytes(data[2:end]))
        data = data[end:]
    return tuple(found)
