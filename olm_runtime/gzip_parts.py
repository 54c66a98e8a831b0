"""The frame of a gzip member (RFC 1952) around deflate segments. Pure.

The same content gives the same bytes: no name, no time.
"""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
DEFLATE_END = b"\x03\x00"
"""An empty final block: ends a stream whose segments end at a byte."""


def end(crc: int, size: int) -> bytes:
    """What follows the last segment of a member."""
    return DEFLATE_END + trailer(crc, size)


def trailer(crc: int, size: int) -> bytes:
    """What ends a member: CRC-32 and size modulo 2^32 of the plain bytes."""
    return crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31


@dataclass(frozen=True, slots=True)
class Part:
    """A deflate segment that refers to nothing before it, and what it takes to put it after others.

    shift  x to the power of the plain bits, modulo the polynomial of CRC-32
    """

    segment: bytes
    crc: int
    size: int
    shift: int

    def plain(self) -> bytes:
        """The plain bytes."""
        return zlib.decompress(self.segment + DEFLATE_END, -zlib.MAX_WBITS, self.size)


def part(plain: bytes, level: int = 6) -> Part:
    """A part of these plain bytes."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    segment = deflate.compress(plain) + deflate.flush(zlib.Z_FULL_FLUSH)
    return Part(segment, zlib.crc32(plain), len(plain), _power(8 * len(plain)))


def member(parts: Iterable[Part]) -> bytes:
    """A gzip member of parts, none of which is read."""
    segments, crc, size = [HEADER], 0, 0
    for each in parts:
        segments.append(each.segment)
        crc = _product(each.shift, crc) ^ each.crc
        size += each.size
    return b"".join([*segments, end(crc, size)])


def _product(a: int, b: int) -> int:
    """Of two polynomials over GF(2), modulo that of CRC-32; the highest bit is x to the 0."""
    product = 0
    while a:
        if a & _ONE:
            product ^= b
        a = (a << 1) & 0xFFFFFFFF
        b = (b >> 1) ^ _POLYNOMIAL if b & 1 else b >> 1
    return product


def _power(exponent: int) -> int:
    """X to a power."""
    power, square = _ONE, _ONE >> 1
    while exponent:
        if exponent & 1:
            power = _product(square, power)
        square = _product(square, square)
        exponent >>= 1
    return power
