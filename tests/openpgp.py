"""Writes keys and messages of OpenPGP, also those that no tool would write."""

import base64
import bz2
import hashlib
import json
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
DIGEST = f"sha256:{'a' * 64}"
ZIP, ZLIB, BZIP2 = 1, 2, 3
SIGNATURE, ONE_PASS, KEY, COMPRESSED, LITERAL, USER_ID, SUBKEY = 2, 4, 6, 8, 11, 13, 14

_HASHES: dict[int, hashes.HashAlgorithm] = {2: hashes.SHA1(), 8: hashes.SHA256()}


def packet(tag: int, body: bytes) -> bytes:
    return bytes((0xC0 | tag, 0xFF)) + len(body).to_bytes(4) + body


def number(value: int) -> bytes:
    return value.bit_length().to_bytes(2) + value.to_bytes((value.bit_length() + 7) // 8)


def subpacket(kind: int, body: bytes) -> bytes:
    return bytes((len(body) + 1, kind)) + body


def compressed(data: bytes, algorithm: int) -> bytes:
    if algorithm == BZIP2:
        packed = bz2.compress(data)
    elif algorithm == ZLIB:
        packed = zlib.compress(data)
    else:
        packed = zlib.compress(data)[2:-4]
    return packet(COMPRESSED, bytes((algorithm,)) + packed)


def literal(data: bytes) -> bytes:
    return packet(LITERAL, b"b\0" + bytes(4) + data)


@dataclass(frozen=True, slots=True)
class Signer:
    """An RSA key. Signatures of it are made long ago, with SHA-256, unless said otherwise."""

    private: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    @property
    def body(self) -> bytes:
        public = self.private.public_key().public_numbers()
        created = int(BEGAN.timestamp()).to_bytes(4)
        return b"\x04" + created + b"\x01" + number(public.n) + number(public.e)

    @property
    def hashed(self) -> bytes:
        return b"\x99" + len(self.body).to_bytes(2) + self.body

    @property
    def id(self) -> bytes:
        return hashlib.sha1(self.hashed).digest()[-8:]

    def signature(
        self, data: bytes, kind: int = 0, *, hashed_with: int = 8, hashed: bytes = b""
    ) -> bytes:
        created = subpacket(2, int(BEGAN.timestamp()).to_bytes(4))
        area = created + subpacket(16, self.id) + hashed
        head = bytes((4, kind, 1, hashed_with)) + len(area).to_bytes(2) + area
        algorithm = _HASHES[hashed_with]
        hashing = hashes.Hash(algorithm)
        hashing.update(data + head + b"\x04\xff" + len(head).to_bytes(4))
        digest = hashing.finalize()
        made = self.private.sign(digest, padding.PKCS1v15(), Prehashed(algorithm))
        rest = bytes(2) + digest[:2] + number(int.from_bytes(made))
        return packet(SIGNATURE, head + rest)

    def one_pass(self, *, hashed_with: int = 8, is_last: bool = True) -> bytes:
        body = bytes((3, 0, hashed_with, 1)) + self.id + bytes((is_last,))
        return packet(ONE_PASS, body)

    def message(self, content: bytes, *, hashed_with: int = 8, hashed: bytes = b"") -> bytes:
        signature = self.signature(content, hashed_with=hashed_with, hashed=hashed)
        return self.one_pass(hashed_with=hashed_with) + literal(content) + signature

    def certificate(self, *, hashed: bytes = b"", before_user_id: bytes = b"") -> bytes:
        """The public key with a user ID; `hashed` are subpackets of its self-signature."""
        name = b"somebody@example.com"
        data = self.hashed + b"\xb4" + len(name).to_bytes(4) + name
        certified = packet(USER_ID, name) + self.signature(data, 0x13, hashed=hashed)
        return packet(KEY, self.body) + before_user_id + certified

    def armoured(self) -> str:
        """The same certificate as text."""
        text = base64.encodebytes(self.certificate()).decode()
        kind = "PGP PUBLIC KEY BLOCK"
        return f"-----BEGIN {kind}-----\n\n{text}-----END {kind}-----\n"

    def subkey(self, other: "Signer", kind: int = 0x18) -> bytes:
        return packet(SUBKEY, other.body) + self.signature(self.hashed + other.hashed, kind)


def statement(**changed: Any) -> bytes:
    """The statement about DIGEST; fields that are changed as `critical__type`."""
    made: Any = {
        "critical": {
            "type": "atomic container signature",
            "image": {"docker-manifest-digest": DIGEST},
            "identity": {"docker-reference": "example.com/release"},
        },
        "optional": {"creator": "a test", "timestamp": 0},
    }
    for path, value in changed.items():
        *parents, name = path.split("__")
        place = made
        for parent in parents:
            place = place[parent]
        place[name] = value
    return json.dumps(made).encode()
