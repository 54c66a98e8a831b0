"""A folder of graph data, which is read again when it changes."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.files import FOLDERS, VERSION, GraphData, is_read
from cluster_version.io.graph_files import FilesReader
from olm_runtime.errors import TransientError

TRIES = 3
"""Until a folder that is written while it is read is left to the next look."""

Stamp = frozenset[tuple[str, int, int, int]]
"""What changes with any of the files: of each its path, inode, time and size."""


class ChangingError(TransientError):
    """The folder changes while it is read."""


class FolderReader:
    """Reads a folder again when one of its files is another one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: Stamp | None = None
        self._files = FilesReader()

    async def look(self) -> GraphData | None:
        """The data; None while it is as it was.

        Raises GraphDataError, of the same files again and again, ChangingError.
        """
        found = await asyncio.to_thread(read_folder, self._root, self._seen)
        if found is None:
            return await self._files.read(None)
        files, self._seen = found
        return await self._files.read(files)


def read_folder(root: Path, seen: Stamp | None = None) -> tuple[dict[str, bytes], Stamp] | None:
    """The files as they were at one time, by their paths; None while the stamp is as `seen`.

    Blocking. Raises GraphDataError, ChangingError.
    """
    if not root.is_dir():
        hint = "name the folder with the file 'version' and the folder 'channels'"
        raise GraphDataError(f"{root}: there is no such folder", hint=hint)
    try:
        stamp = _stamp(root)
        if stamp == seen:
            return None
        for _ in range(TRIES):
            files = {path: (root / path).read_bytes() for path in _paths(root)}
            before, stamp = stamp, _stamp(root)
            if stamp == before:
                return files, stamp
    except FileNotFoundError as error:
        raise ChangingError(f"{error.filename} is gone") from error
    except OSError as error:
        raise GraphDataError(f"cannot read {error.filename}: {error.strerror}") from error
    raise ChangingError(f"{root} changes while it is read")


def _stamp(root: Path) -> Stamp:
    base = f"{root}/"  # texts: thousands of files are looked at again and again
    stats = ((path, os.stat(base + path)) for path in _paths(root))  # noqa: PTH116
    return frozenset((path, each.st_ino, each.st_mtime_ns, each.st_size) for path, each in stats)


def _paths(root: Path) -> Iterator[str]:
    """The files that say something. Links are followed: volumes of Kubernetes are made of them."""
    if (root / VERSION).is_file():
        yield VERSION
    base = len(f"{root}/")
    for folder in FOLDERS:
        for where, _, names in os.walk(f"{root}/{folder}", followlinks=True):
            here = where[base:]
            yield from (path for name in sorted(names) if is_read(path := f"{here}/{name}"))
