"""Reads a catalog folder file by file; blobs come in upstream's walk order. Blocking."""

import os
from collections.abc import Iterator
from pathlib import Path

from olm_shared.fbc import (
    INDEX_IGNORE,
    MAX_DOCUMENT_BYTES,
    Blob,
    FbcError,
    files_to_read,
    parse_pieces,
)

PIECE_BYTES = 256 << 10
MAX_IGNORE_BYTES = 1 << 20


def read_catalog(root: Path, *, document_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[Blob]:
    """All blobs below a folder. Raises FbcError naming file, document and line.

    A document larger than `document_bytes` is an error.
    """
    for path in catalog_files(root):
        yield from read_file(root, path, document_bytes=document_bytes)


def catalog_files(root: Path) -> list[str]:
    """The files of a catalog that are not ignored, relative to `root`, in reading order."""
    paths: list[str] = []
    ignores: dict[str, str] = {}
    for folder, _, names in os.walk(root):
        here = Path(folder).relative_to(root).as_posix()
        prefix = "" if here == "." else f"{here}/"
        paths += (prefix + name for name in names)
        if INDEX_IGNORE in names:
            ignores[prefix.rstrip("/")] = _ignore_text(Path(folder, INDEX_IGNORE))
    return files_to_read(paths, ignores)


def read_file(root: Path, path: str, *, document_bytes: int = MAX_DOCUMENT_BYTES) -> Iterator[Blob]:
    """The blobs of one file of a catalog. Raises FbcError as `read_catalog`."""
    return parse_pieces(_pieces(root / path), path=path, document_bytes=document_bytes)


def _ignore_text(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(MAX_IGNORE_BYTES).decode("utf-8", errors="replace")


def _pieces(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as opened:
            while piece := opened.read(PIECE_BYTES):
                yield piece
    except OSError as error:
        raise FbcError(f"{file.name}: cannot be read: {error.strerror}") from error
