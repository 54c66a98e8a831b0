"""Rings of keys, each of which may have signed. Source of the rules: upstream's notes, 6.1 and 6.3.

A key counts past its expiry date, as for upstream; not when it is revoked, has no user ID that it
signed itself, or says that it does not sign.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pysequoia.packet import Packet, Tag

from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.packets import (
    SignaturePacket,
    as_signature_errors,
    read_signature,
    split,
)
from cluster_version.signatures.public_keys import (
    PublicKey,
    UnsupportedKeyError,
    check,
    read_public_key,
)

_CERTIFICATIONS = frozenset(range(0x10, 0x14))
_SUBKEY_BINDING, _KEY_REVOCATION, _SUBKEY_REVOCATION = 0x18, 0x20, 0x28

KeyRing = tuple[PublicKey, ...]
"""The keys that may sign, subkeys among them."""


@dataclass(frozen=True, slots=True)
class _Certified:
    """A key, subkey or user ID, and the signatures that follow it."""

    packet: Packet
    signatures: tuple[Packet, ...]


def read_key_ring(data: bytes) -> KeyRing:
    """Reads armoured or binary keys. Raises SignatureError where none can be read.

    Keys that cannot be read are left out as long as another one can; what is empty has none.
    """
    packets = split(data)
    parts = list(_parts(packets))
    first = [at for at, part in enumerate(parts) if part.packet.tag == Tag.PublicKey]
    if packets and not first:
        raise SignatureError("it holds no public key")
    ring: list[PublicKey] = []
    unsupported: SignatureError | None = None
    for begin, end in pairwise([*first, len(parts)]):
        try:
            with as_signature_errors():
                ring += _signing_keys(parts[begin], parts[begin + 1 : end])
        except UnsupportedKeyError as error:
            unsupported = error
        except SignatureError:
            continue  # as upstream: only what it has no rule for is reported
    if unsupported and not ring:
        raise unsupported
    return tuple(ring)


def _parts(packets: Sequence[Packet]) -> Iterator[_Certified]:
    """What is certified, each with the signatures that follow."""
    held: Packet | None = None
    signatures: list[Packet] = []
    for packet in packets:
        if packet.tag == Tag.Signature:
            signatures.append(packet)
            continue
        if held is not None:
            yield _Certified(held, tuple(signatures))
        held, signatures = packet, []
    if held is not None:
        yield _Certified(held, tuple(signatures))


def _signing_keys(primary: _Certified, others: Sequence[_Certified]) -> Iterator[PublicKey]:
    """The keys of a certificate that may sign. Raises SignatureError for one that is broken."""
    key = read_public_key(primary.packet)
    subkeys = [(read_public_key(each.packet), each) for each in others if _is_subkey(each)]
    for signature in _of_kinds(primary, {_KEY_REVOCATION}):
        check(key, signature, _hashed_key(key))
        return
    own = [own for each in others for own in _self_signatures(key, each)]
    if not own:
        raise SignatureError("entity without any identities")
    stands = next((each for each in own if each.is_primary), own[0])
    if key.numbers and stands.may_sign is not False:
        yield key
    for subkey, part in subkeys:
        if subkey.numbers and _is_bound(key, subkey, part):
            yield subkey


def _is_subkey(part: _Certified) -> bool:
    return bool(part.packet.tag == Tag.PublicSubkey)


def _self_signatures(key: PublicKey, part: _Certified) -> Iterator[SignaturePacket]:
    """The newest signature of a key over a user ID. Raises SignatureError for a false one."""
    if part.packet.tag != Tag.UserID:
        return
    name = part.packet.body
    found = []
    for packet in part.signatures:
        if packet.issuer_key_id != key.id:
            continue
        signature = read_signature(packet)
        if signature.kind in _CERTIFICATIONS:
            hashed = b"\xb4" + len(name).to_bytes(4) + name
            check(key, signature, _hashed_key(key) + hashed)
            found.append(signature)
    if found:
        yield max(found, key=lambda signature: signature.created)


def _is_bound(key: PublicKey, subkey: PublicKey, part: _Certified) -> bool:
    """Whether a key says of a subkey that it signs. Raises SignatureError for a false signature."""
    hashed = _hashed_key(key) + _hashed_key(subkey)
    found = list(_of_kinds(part, {_SUBKEY_BINDING, _SUBKEY_REVOCATION}))
    for signature in found:
        check(key, signature, hashed)
    if not found or any(each.kind == _SUBKEY_REVOCATION for each in found):
        return False
    return max(found, key=lambda signature: signature.created).may_sign is not False


def _of_kinds(part: _Certified, kinds: set[int]) -> Iterator[SignaturePacket]:
    for packet in part.signatures:
        signature = read_signature(packet)
        if signature.kind in kinds:
            yield signature


def _hashed_key(key: PublicKey) -> bytes:
    """A key as signatures over it hash it."""
    return b"\x99" + len(key.body).to_bytes(2) + key.body
