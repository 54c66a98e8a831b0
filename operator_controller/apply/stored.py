"""The stored form of one object: compact JSON with sorted keys, under a key that is its digest."""

import base64
import gzip
import hashlib
import re
import zlib

import orjson

from api.objects import KubeObject, key_of
from olm_runtime.errors import TerminalError

MAX_SECRET_BYTES = 900 * 1024
"""Data bytes in one Secret: below the API server's 1 MiB with room for its envelope."""
MAX_OBJECT_BYTES = 10 * 1024 * 1024
"""Of one object when decompressed: a bound against content that grows without end."""
GZIP_MAGIC = b"\x1f\x8b"

_DIGEST = re.compile(r"[A-Za-z0-9_-]{43}")


class ContentError(TerminalError):
    """The content of a revision cannot be stored, or is not what was stored."""


def encode(obj: KubeObject) -> bytes:
    """The stored form of an object: compact JSON with sorted keys, gzipped when large."""
    data = orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)
    if len(data) <= MAX_SECRET_BYTES:
        return data
    packed = gzip.compress(data, compresslevel=9, mtime=0)
    if len(data) > MAX_OBJECT_BYTES or len(packed) > MAX_SECRET_BYTES:
        raise ContentError(
            f"{key_of(obj)} is too large to store: {len(data)} bytes, {len(packed)} compressed, "
            f"at most {MAX_SECRET_BYTES} compressed and {MAX_OBJECT_BYTES} in all"
        )
    return packed


def decode(data: bytes) -> KubeObject:
    """The object of its stored form. Raises ContentError."""
    if data.startswith(GZIP_MAGIC):
        data = _inflate(data)
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ContentError(f"stored object is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ContentError("stored object is no JSON object")
    return found


def _inflate(data: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        plain = inflater.decompress(data, MAX_OBJECT_BYTES + 1)
    except zlib.error as error:
        raise ContentError(f"stored object cannot be decompressed: {error}") from error
    if len(plain) > MAX_OBJECT_BYTES:
        raise ContentError(f"stored object is larger than {MAX_OBJECT_BYTES} bytes")
    return plain


def content_key(data: bytes) -> str:
    """The key of stored data: base64url of its SHA-256, without padding (43 characters)."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def is_digest(key: str) -> bool:
    """Whether a key is one of `content_key`; references of users may be to keys of any kind."""
    return _DIGEST.fullmatch(key) is not None
