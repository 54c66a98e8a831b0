"""The cache on disk: the messages of all bundles, so that a restart serves at once.

A folder `opm.v1` with an index, a file of bundles that stays on disk, and the digest of both and
of the catalog they were made of. It is written aside and renamed, so one that is there is whole.
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from olm_catalogs.io.folder import read_folder
from olm_catalogs.io.messages import (
    BUNDLES,
    FORMAT,
    INDEX,
    Catalog,
    open_messages,
    write_messages,
)
from olm_content.fbc.files import CatalogFormat
from olm_runtime.errors import TerminalError
from olm_runtime.file_trees import tree_files

DIGEST = "digest"
_PIECE = 1 << 20
# Images are built by one user and run by another of the same group.
_FOLDER_MODE, _FILE_MODE = 0o775, 0o664


def open_cache(folder: Path, source: Path) -> Catalog:
    """Opens the cache of a catalog. Raises TerminalError when there is none or it does not fit."""
    here = folder / FORMAT
    try:
        recorded = (here / DIGEST).read_text()
        if recorded != _digest(here, source):
            raise TerminalError(
                f"the cache in {folder} was not made of {source}, or was changed since",
                hint="make it anew with --cache-only",
            )
        return open_messages(here)
    except FileNotFoundError as error:
        raise TerminalError(
            f"there is no cache in {folder}: {error.filename}: {error.strerror}",
            hint="make it with --cache-only, or serve with --cache-enforce-integrity=false",
        ) from error
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
    except (ValueError, TypeError, LookupError) as error:
        raise TerminalError(f"the cache in {folder} cannot be read: {error}") from error


def make_cache(folder: Path, source: Path) -> None:
    """Makes the cache anew. Raises TerminalError for faults of the catalog and of the disk."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{FORMAT}-", dir=folder))
        try:
            _write(aside, source)
            here = folder / FORMAT
            if here.exists():
                shutil.rmtree(here)
            aside.rename(here)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise TerminalError(
            f"the cache cannot be written: {error.filename}: {error.strerror}",
            hint="give a folder that can be written with --cache-dir",
        ) from error


def _write(here: Path, source: Path) -> None:
    write_messages(read_folder(source), here)
    (here / DIGEST).write_text(_digest(here, source))
    here.chmod(_FOLDER_MODE)
    for path in here.iterdir():
        path.chmod(_FILE_MODE)


def _digest(here: Path, source: Path) -> str:
    digest = hashlib.sha256(FORMAT.encode())
    for root, path in (
        *((source, path) for path in tree_files(source, CatalogFormat())),
        *((here, name) for name in (INDEX, BUNDLES)),
    ):
        with (root / path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest.update(f"\0{path}\0{size}\0".encode())
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()
