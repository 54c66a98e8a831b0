"""Contents of catalogs cached on disk, by key: a digest, or the state of a folder.

`XDG_CACHE_HOME/olm/catalogs` (else ~/.cache) is readable by its owner only: what a cluster or a
registry shows to one user is not for all. The contents least recently used go first
when all together are larger than MAX_BYTES.
"""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from olm_client.catalogs.content import FORMAT, Content
from olm_client.user_cache import shrink, user_cache
from olm_runtime.errors import TerminalError

if TYPE_CHECKING:
    from olm_client.catalogs.content_writer import ContentWriter

DIGEST = "sha256:"
MAX_BYTES = 1 << 30
_SUFFIX = f".{FORMAT}.sqlite"


class ContentCache:
    """The contents on disk."""

    def __init__(self, folder: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    @classmethod
    def of_user(cls) -> "ContentCache":
        """The cache of the user who runs this."""
        return cls(user_cache() / "catalogs")

    def find(self, key: str) -> Content | None:
        """The content of that name; None if it is not here. One that is damaged is removed."""
        file = self._file(key)
        content = _opened(file)
        with contextlib.suppress(OSError):  # it is not there, or on a disk that cannot be written
            os.utime(file)
        return content

    @contextmanager
    def writing(self, key: str) -> Iterator["ContentWriter"]:
        """Takes the content of that name; it is there once the context ends without an error.

        Raises TerminalError where nothing can be written.
        """
        import tempfile  # late: seldom needed

        from olm_client.catalogs.content_writer import ContentWriter

        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix="new-")
            os.close(handle)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            with closing(sqlite3.connect(name)) as db:
                writer = ContentWriter(db)
                try:
                    yield writer
                    writer.finish()
                finally:
                    writer.end()
            Path(name).replace(self._file(key))
        except (sqlite3.Error, OSError) as error:
            raise self._unwritable(error) from error
        finally:
            Path(name).unlink(missing_ok=True)
        shrink(self._folder, self._max_bytes, newest=self._file(key))

    def digests(self) -> list[str]:
        """The names of contents that are digests, as `find` takes them."""
        names = (
            file.name.removesuffix(_SUFFIX) for file in self._folder.glob(f"sha256-*{_SUFFIX}")
        )
        return sorted(name.replace("-", ":", 1) for name in names)

    def find_unique(self, digest: str) -> Content | None:
        """The content whose digest begins so; None if there is none here, or several."""
        prefix = digest if digest.startswith(DIGEST) else DIGEST + digest
        found = [each for each in self.digests() if each.startswith(prefix)]
        return self.find(found[0]) if len(found) == 1 else None

    def all(self) -> list[Content]:
        """Every content that can be read."""
        files = sorted(self._folder.glob(f"*{_SUFFIX}"))
        return [content for file in files if (content := _opened(file)) is not None]

    def _file(self, key: str) -> Path:
        return self._folder / f"{key.replace(':', '-')}{_SUFFIX}"

    def _unwritable(self, error: Exception) -> TerminalError:
        return TerminalError(
            f"cannot keep the catalog in {self._folder}: {error}",
            hint="name another folder in XDG_CACHE_HOME",
        )


def _opened(file: Path) -> Content | None:
    if not file.exists():
        return None
    try:
        return Content(file)
    except sqlite3.Error:
        file.unlink(missing_ok=True)
        return None


def folder_key(folder: Path) -> str:
    """The state of a folder: differs once a file in it came, went or changed. Raises OSError."""
    state = hashlib.sha256(os.fsencode(folder.resolve()))
    for relative, stat in sorted(_files(folder, "")):
        state.update(f"\0{relative}\0{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}".encode())
    return f"folder-{state.hexdigest()}"


def _files(folder: Path, prefix: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as found:
        for item in found:
            name = f"{prefix}{os.fsencode(item.name).hex()}"
            if item.is_dir(follow_symlinks=False):
                yield from _files(Path(item.path), f"{name}/")
            else:
                yield name, item.stat()
