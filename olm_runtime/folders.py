"""Folders that are written once: removed whole whatever their modes, published by a rename."""

import os
import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

TEMPORARY = ".tmp-"
"""How names of folders begin that are being written."""
FOLDER_MODE = 0o500
FILE_MODE = 0o400


def make_read_only(root: Path) -> None:
    """Takes the write permission from everything in a folder, as nobody is to change it."""
    for folder, _, files in os.walk(root, topdown=False):
        for name in files:
            Path(folder, name).chmod(FILE_MODE)
        Path(folder).chmod(FOLDER_MODE)


def remove_tree(path: Path) -> None:
    """Removes a folder or file, read-only ones too; one that is not there is no error."""

    def unlock(_: Callable[..., Any], failed: str, __: object) -> None:
        if not Path(failed).exists():
            return
        Path(failed).parent.chmod(0o700)
        if Path(failed).is_dir():
            Path(failed).chmod(0o700)
            remove_tree(Path(failed))
        else:
            Path(failed).unlink()

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, onerror=unlock)
    else:
        path.unlink(missing_ok=True)


def collect(
    base: Path,
    keep: Collection[str],
    *,
    interrupted: bool = True,
    remove: Callable[[Path], None] = remove_tree,
) -> None:
    """Removes from `base` all but the entries to keep.

    Temporary ones go if `interrupted`: an interrupted attempt looks like a running one,
    so that is for the start.
    """
    for entry in base.iterdir() if base.is_dir() else ():
        temporary = entry.name.startswith(TEMPORARY)
        if interrupted if temporary else entry.name not in keep:
            remove(entry)
