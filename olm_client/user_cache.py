"""Where `olm` keeps what it would else have to find out again."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG


def user_cache() -> Path:
    """The folder of the user who runs this."""
    return cache_folder(os.environ, Path.home())


def cache_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of the user who has this environment and home."""
    root = Path(environment.get("XDG_CACHE_HOME", ""))
    return (root if root.is_absolute() else home / ".cache") / "olm"


def shrink(folder: Path, max_bytes: int, *, newest: Path | None = None) -> None:
    """Removes what was not used for longest until the rest is small enough; never the newest.

    Files of other formats and of broken runs go, too, and those of folders in it.
    """
    found = []
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):  # another run removed it
            stat = file.stat()
            if S_ISREG(stat.st_mode):
                found.append((stat.st_mtime_ns, stat.st_size, file))
    size = sum(each for _, each, _ in found)
    for _, each, file in sorted(found):
        if size <= max_bytes:
            return
        if file != newest:
            file.unlink(missing_ok=True)
            size -= each
