"""The folder of a version of a catalog: written aside, then renamed. Blocking."""

import shutil
from pathlib import Path

from olm_runtime.folders import TEMPORARY, remove_tree


class CorruptContentError(Exception):
    """A version that is incomplete or was changed: not to be served."""


def prepare_version(folder: Path) -> Path:
    """An empty folder in which a catalog's next version is written.

    Removes what interrupted attempts left. One attempt per catalog at a time.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for entry in folder.glob(f"{TEMPORARY}*"):
        remove_tree(entry)
    work = folder / f"{TEMPORARY}version"
    work.mkdir(mode=0o700)
    return work


def publish_version(work: Path, version: str) -> None:
    """Gives a finished version its name. One that is there already is the same."""
    final = work.parent / version
    if final.exists():
        shutil.rmtree(final)
    work.rename(final)
