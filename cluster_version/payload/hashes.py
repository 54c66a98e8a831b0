"""The hash by which the status identifies a set of manifests."""

from collections.abc import Iterable

_OFFSET, _PRIME = 0xCBF29CE484222325, 0x100000001B3


def fnv64(parts: Iterable[bytes]) -> int:
    """The 64-bit FNV-1 hash of bytes, part after part."""
    number = _OFFSET
    for part in parts:
        for byte in part:
            number = number * _PRIME % 2**64 ^ byte
    return number
