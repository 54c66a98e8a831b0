"""One version of a catalog on disk: `catalog.jsonl`, its compressed variants, its index.

A version's folder is named after the SHA-256 of the plain content and never changes. Open files
outlive the folder's removal, so an answer that began with one version ends with it.
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson

from catalogd.graphql.shape import BadShapeError, CatalogShape
from catalogd.index import BadIndexError, Index
from olm_catalogs.io.versions import CorruptContentError

FORMAT = 2
PLAIN, GZIP, ZSTD = "identity", "gzip", "zstd"
FILES = {PLAIN: "catalog.jsonl", GZIP: "catalog.jsonl.gz", ZSTD: "catalog.jsonl.zst"}
INDEX_FILE = "index.json"
SHAPE_FILE = "graphql-schema.json"
"""Only where GraphQL is served."""
MANIFEST_FILE = "content.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a version consists of.

    `digests` are SHA-256 in hex by file name, `sizes` in bytes.
    """

    version: str
    blobs: int
    sizes: Mapping[str, int]
    digests: Mapping[str, str]
    format: int = FORMAT

    def to_json(self) -> bytes:
        """As it lies on disk."""
        return orjson.dumps(self)


@dataclass(slots=True)
class OpenFile:
    """A file that is read at any place by many at once."""

    descriptor: int
    size: int

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        return os.pread(self.descriptor, length, offset)


class Content:
    """A version that is open for serving; closed when it is retired and nobody reads it."""

    def __init__(
        self,
        manifest: Manifest,
        index: Index,
        files: Mapping[str, OpenFile],
        shape: CatalogShape,
    ) -> None:
        self.manifest = manifest
        self.index = index
        self.files = files
        self.shape = shape
        self._readers = 0
        self._retired = False

    def __enter__(self) -> Self:
        """Begins an answer: the files stay open until it ends."""
        self._readers += 1
        return self

    def __exit__(self, *_: object) -> None:
        """Ends an answer."""
        self._readers -= 1
        self._close_if_unused()

    def retire(self) -> None:
        """Another version is served from now on."""
        self._retired = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._retired and self._readers == 0:
            for file in self.files.values():
                os.close(file.descriptor)
            self.files = {}


def open_content(folder: Path, *, verify: bool, shaped: bool = False) -> Content:
    """Opens a version; `verify` compares every file with its digest (blocking, 0.5 s per GB).

    `shaped` says that its shape is needed. Raises CorruptContentError.
    """
    manifest = _read_manifest(folder)
    if verify:
        for name, digest in manifest.digests.items():
            if _sha256(folder / name) != digest:
                raise CorruptContentError(f"{folder / name} does not match its digest")
    with ExitStack() as failing:
        try:
            index = Index.from_json((folder / INDEX_FILE).read_bytes())
            shape = _read_shape(folder) if shaped else CatalogShape()
            files = {
                coding: _open(folder / name, manifest.sizes[name], failing)
                for coding, name in FILES.items()
            }
        except (OSError, KeyError, orjson.JSONDecodeError, BadIndexError, BadShapeError) as error:
            raise CorruptContentError(f"{folder} is incomplete: {error}") from error
        failing.pop_all()
    return Content(manifest, index, files, shape)


def _read_shape(folder: Path) -> CatalogShape:
    return CatalogShape.from_document(orjson.loads((folder / SHAPE_FILE).read_bytes()))


def _read_manifest(folder: Path) -> Manifest:
    try:
        fields: dict[str, Any] = orjson.loads((folder / MANIFEST_FILE).read_bytes())
        manifest = Manifest(**fields)
    except (OSError, orjson.JSONDecodeError, TypeError) as error:
        raise CorruptContentError(f"{folder} has no readable manifest: {error}") from error
    if manifest.format != FORMAT or manifest.version != folder.name:
        raise CorruptContentError(f"{folder} is of another version or format")
    return manifest


def _open(path: Path, size: int, failing: ExitStack) -> OpenFile:
    """A file of the size that it should have; closed again by `failing`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    failing.callback(os.close, descriptor)
    actual = os.fstat(descriptor).st_size
    if actual != size:
        raise CorruptContentError(f"{path} has {actual} bytes, not {size}")
    return OpenFile(descriptor, size)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CorruptContentError(f"{path} cannot be read: {error}") from error
