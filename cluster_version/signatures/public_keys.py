"""Public keys of OpenPGP, and whether one made a signature: RFC 4880, sections 5.5.2 and 9.

Elliptic curves as in RFC 6637, section 11. Ed25519 is not read: upstream does not read it, and
what one cluster takes the next one is to take.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, encode_dss_signature
from pysequoia.packet import Packet

from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.packets import V4, SignaturePacket, read_numbers

_RSA = frozenset({1, 3})
_RSA_ENCRYPT, _ELGAMAL, _DSA, _ECDH, _ECDSA = 2, 16, 17, 18, 19
_CURVES: Mapping[bytes, type[ec.EllipticCurve]] = {
    bytes.fromhex("2a8648ce3d030107"): ec.SECP256R1,
    bytes.fromhex("2b81040022"): ec.SECP384R1,
    bytes.fromhex("2b81040023"): ec.SECP521R1,
}
_HASHES: Mapping[int, type[hashes.HashAlgorithm]] = {
    1: hashes.MD5,
    2: hashes.SHA1,
    8: hashes.SHA256,
    9: hashes.SHA384,
    10: hashes.SHA512,
    11: hashes.SHA224,
}

_ALGORITHM_AT = 5
_Numbers = rsa.RSAPublicKey | dsa.DSAPublicKey | ec.EllipticCurvePublicKey


class UnsupportedKeyError(SignatureError):
    """A key of an algorithm that there is no rule for."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key or a subkey. `numbers` is None for one that can only encrypt.

    body  what signatures over the key hash
    """

    id: str
    algorithm: int
    body: bytes
    numbers: _Numbers | None


def read_public_key(packet: Packet) -> PublicKey:
    """Takes a key apart. Raises SignatureError."""
    body = packet.body
    if len(body) <= _ALGORITHM_AT or body[0] != V4 or packet.key_id is None:
        raise UnsupportedKeyError("only keys of version 4 are supported")
    algorithm, rest = body[_ALGORITHM_AT], body[_ALGORITHM_AT + 1 :]
    try:
        numbers = _numbers(algorithm, rest)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise SignatureError(f"a key that is none: {error}") from error
    return PublicKey(packet.key_id, algorithm, body, numbers)


def _numbers(algorithm: int, rest: bytes) -> _Numbers | None:
    """The key, None for one that can only encrypt."""
    if algorithm in _RSA:
        modulus, exponent = read_numbers(rest)
        return rsa.RSAPublicNumbers(exponent, modulus).public_key()
    if algorithm == _DSA:
        p, q, g, y = read_numbers(rest)
        return dsa.DSAPublicNumbers(y, dsa.DSAParameterNumbers(p, q, g)).public_key()
    if algorithm in (_ECDSA, _ECDH):
        return _point(algorithm, rest)
    if algorithm in (_RSA_ENCRYPT, _ELGAMAL):
        return None
    raise UnsupportedKeyError(f"public key algorithm {algorithm} is not supported")


def _point(algorithm: int, rest: bytes) -> _Numbers | None:
    name = rest[1 : 1 + rest[0]]
    if name not in _CURVES:
        raise UnsupportedKeyError(f"elliptic curve {name.hex()} is not supported")
    if algorithm == _ECDH:
        return None
    (point,) = read_numbers(rest[1 + rest[0] :])
    encoded = point.to_bytes((point.bit_length() + 7) // 8)
    return ec.EllipticCurvePublicKey.from_encoded_point(_CURVES[name](), encoded)


def check(key: PublicKey, signature: SignaturePacket, data: bytes) -> None:
    """Raises SignatureError where a key did not make a signature over data."""
    if signature.algorithm != key.algorithm:
        raise SignatureError("public key and signature use different algorithms")
    if signature.hash not in _HASHES:
        raise SignatureError(f"hash function {signature.hash} is not supported")
    kind = _HASHES[signature.hash]()
    hashing = hashes.Hash(kind)
    hashing.update(data)
    hashing.update(signature.trailer)
    digest = hashing.finalize()
    if digest[:2] != signature.tag:
        raise SignatureError("hash tag does not match")
    try:
        _check_digest(key.numbers, signature.numbers, digest, Prehashed(kind))
    except (InvalidSignature, ValueError, OverflowError, UnsupportedAlgorithm) as error:
        raise SignatureError("the signature was not made with the key") from error


def _check_digest(
    key: _Numbers | None, numbers: tuple[int, ...], digest: bytes, kind: Prehashed
) -> None:
    """Raises InvalidSignature, ValueError or OverflowError."""
    match key:
        case rsa.RSAPublicKey():
            (number,) = numbers
            signature = number.to_bytes((key.key_size + 7) // 8)
            key.verify(signature, digest, padding.PKCS1v15(), kind)
        case dsa.DSAPublicKey():
            r, s = numbers
            key.verify(encode_dss_signature(r, s), digest, kind)
        case ec.EllipticCurvePublicKey():
            r, s = numbers
            key.verify(encode_dss_signature(r, s), digest, ec.ECDSA(kind))
        case None:
            raise InvalidSignature
