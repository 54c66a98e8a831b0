"""How much one image may cost: every limit by name, with its default. Pure.

Both programs take each of them as a flag (`olm_runtime.cli.limit_flags`).
"""

from typing import NamedTuple

MIB = 1 << 20
GIB = 1 << 30

RATIO_GRACE_BYTES = 64 * MIB
"""Below this size no ratio is suspicious: small files of blanks compress without end."""
MAX_NAME_BYTES = 255
"""Of one part of a path: no file system takes more."""


class Limits(NamedTuple):
    """Limits of one image; past any of them the pull is an error that names it.

    The defaults are far above real catalogs: the largest known has 1 000 files, unpacks to
    0.3 GiB, and no layer of it becomes 60 times its size.
    """

    manifest_bytes: int = 4 * MIB
    """Of a manifest or index."""
    config_bytes: int = 4 * MIB
    """Of the image configuration."""
    layers: int = 256
    compressed_bytes: int = 4 * GIB
    """All layers together, as they are transferred."""
    window_bytes: int = 64 * MIB
    """Memory that a zstd layer may ask for."""
    header_bytes: int = MIB
    """Of an extended tar header, which is read into memory whole."""
    entries: int = 200_000
    file_bytes: int = 2 * GIB
    total_bytes: int = 4 * GIB
    """All files together, unpacked."""
    ratio: int = 300
    """Bytes that a compressed byte may become."""
    depth: int = 64
    path_length: int = 1024
    """In characters."""


def limit_flag(field: str) -> str:
    """The flag of a limit."""
    return f"--max-image-{field.replace('_', '-')}"


def raise_hint(field: str) -> str:
    """What to do about an image past a limit."""
    return f"if you trust the image, start catalogd or operator-controller with {limit_flag(field)}"


BUNDLE_LIMITS = Limits(compressed_bytes=32 * MIB, file_bytes=32 * MIB, total_bytes=32 * MIB)
"""A bundle is read into memory whole, where it may take 40 times its size; real ones stay below
10 MiB."""

RELEASE_LIMITS = Limits(file_bytes=32 * MIB, total_bytes=256 * MIB)
"""Of what is unpacked of a release image: its manifests, which are read into memory. The program
below them is as large as it is."""
