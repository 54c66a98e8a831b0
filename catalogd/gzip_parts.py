"""The frame of a gzip member (RFC 1952) around deflate segments. Pure.

The same content gives the same bytes: no name, no time.
"""

HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
DEFLATE_END = b"\x03\x00"
"""An empty final block: ends a stream whose segments end at a byte."""


def end(crc: int, size: int) -> bytes:
    """What follows the last segment of a member."""
    return DEFLATE_END + trailer(crc, size)


def trailer(crc: int, size: int) -> bytes:
    """What ends a member: CRC-32 and size modulo 2^32 of the plain bytes."""
    return crc.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")
