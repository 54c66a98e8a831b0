"""Bundles cached on disk, by the digests of their images.

`XDG_CACHE_HOME/olm/bundles` (else ~/.cache) is readable by its owner only, as contents of catalogs
are. The bundles least recently used go first when all together are larger than MAX_BYTES.
"""

import contextlib
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from olm_client.user_cache import shrink, user_cache
from olm_runtime.images.reference import parse_ref

MAX_BYTES = 64 << 20
_SUFFIX = ".msgpack"
_SUM_BYTES = 4
Files = dict[str, bytes]


class BundleCache:
    """The bundles on disk: their files by path."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    @classmethod
    def of_user(cls) -> "BundleCache":
        """The cache of the user who runs this."""
        return cls(user_cache() / "bundles")

    def files(self, image: str, pull: Callable[[], Files]) -> Files:
        """Those of an image, pulled unless they are here. A tag may name others: always pulled.

        Raises TerminalError for what is no reference, and what `pull` raises.
        """
        digest = parse_ref(image).digest
        if not digest:
            return pull()
        file = self._folder / f"{digest.replace(':', '-')}{_SUFFIX}"
        found = _read(file)
        if found is None:
            found = pull()
            with contextlib.suppress(OSError):  # a plan needs no disk that can be written
                self._keep(file, found)
        return found

    def _keep(self, file: Path, files: Mapping[str, bytes]) -> None:
        import tempfile  # late: bundles are read more often than written

        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as stream:
                packed = msgspec.msgpack.encode(files)
                stream.write(_sum(packed) + packed)
            Path(name).replace(file)
        finally:
            Path(name).unlink(missing_ok=True)
        shrink(self._folder, self._max_bytes, newest=file)


def _read(file: Path) -> Files | None:
    """None where there is none, or one that is damaged."""
    try:
        content = file.read_bytes()
        packed = content[_SUM_BYTES:]
        if content[:_SUM_BYTES] != _sum(packed):
            return None
        found = msgspec.msgpack.decode(packed, type=Files)
        os.utime(file)
    except (OSError, msgspec.DecodeError):
        return None
    return found


def _sum(packed: bytes) -> bytes:
    """By which a change on disk is noticed."""
    return zlib.crc32(packed).to_bytes(_SUM_BYTES)
