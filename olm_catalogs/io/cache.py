"""The cache on disk: the messages of all bundles, so that a restart serves at once.

A folder `opm.v1` with an index, a file of bundles that stays on disk, and the digest of both and
of the catalog they were made of. It is written aside and renamed, so one that is there is whole.
"""

import hashlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from google.protobuf import json_format, struct_pb2

from olm_catalogs.io.folder import read_folder
from olm_catalogs.registry import registry_pb2
from olm_catalogs.registry.building import build, check_meta, refuse_faults
from olm_catalogs.registry.index import Index, ServedEntry
from olm_catalogs.registry.stored import Span, Stored, dump, load
from olm_content.fbc.files import CatalogFormat
from olm_content.fbc.records import Record
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE
from olm_runtime.errors import TerminalError
from olm_runtime.file_trees import tree_files

FORMAT = "opm.v1"
"""Changes whenever what is stored does."""

INDEX, BUNDLES, DIGEST = "index.json", "bundles", "digest"
_PIECE = 1 << 20
# Images are built by one user and run by another of the same group.
_FOLDER_MODE, _FILE_MODE = 0o775, 0o664


@dataclass(frozen=True, slots=True)
class Catalog:
    """An opened cache. What it hands out are serialised messages."""

    stored: Stored
    data: mmap.mmap | bytes

    @property
    def index(self) -> Index:
        """Packages, channels and entries."""
        return self.stored.index

    def bundle(self, entry: ServedEntry) -> bytes:
        """The bundle in its channel, without what it updates."""
        span = self.stored.spans[entry.bundle]
        return _place(entry) + self._read(span.offset, span.core + span.content)

    def listed(self, entry: ServedEntry) -> bytes:
        """The bundle in its channel with what it updates; its objects only without an image."""
        span = self.stored.spans[entry.bundle]
        size = span.core + (0 if span.has_image else span.content)
        update = registry_pb2.Bundle(replaces=entry.replaces, skips=entry.skips)
        return b"".join((_place(entry), update.SerializeToString(), self._read(span.offset, size)))

    def metas(self, schema: str, package: str) -> Iterator[bytes]:
        """The records of a schema that is not OLM's, and of a package, empty for none."""
        for offset, size in self.stored.metas.get(schema, {}).get(package, ()):
            yield self._read(offset, size)

    def _read(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def _place(entry: ServedEntry) -> bytes:
    found = registry_pb2.Bundle(channelName=entry.channel, skipRange=entry.skip_range)
    serialized: bytes = found.SerializeToString()
    return serialized


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
        return Catalog(load((here / INDEX).read_bytes()), _mapped(here / BUNDLES))
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
    records = list(read_folder(source))
    refuse_faults(records)
    packages, spans, offset = [], [], 0
    with (here / BUNDLES).open("wb") as file:
        for package, messages in build(records):
            packages.append(package)
            for each in messages:
                file.write(each.core)
                file.write(each.content)
                spans.append(Span(offset, len(each.core), len(each.content), each.has_image))
                offset += len(each.core) + len(each.content)
        metas = _write_metas(records, file, offset)
    (here / INDEX).write_bytes(dump(packages, spans, metas))
    (here / DIGEST).write_text(_digest(here, source))
    here.chmod(_FOLDER_MODE)
    for path in here.iterdir():
        path.chmod(_FILE_MODE)


def _write_metas(
    records: list[Record], file: IO[bytes], offset: int
) -> dict[str, dict[str, list[list[int]]]]:
    metas: dict[str, dict[str, list[list[int]]]] = {}
    for each in records:
        if each.schema in {PACKAGE, CHANNEL, BUNDLE, DEPRECATIONS}:
            continue
        check_meta(each)
        data = json_format.ParseDict(each.value, struct_pb2.Struct()).SerializeToString()
        file.write(data)
        metas.setdefault(each.schema, {}).setdefault(each.package, []).append([offset, len(data)])
        offset += len(data)
    return metas


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


def _mapped(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return b""  # nothing cannot be mapped
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
