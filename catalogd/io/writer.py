"""Writes a version of a catalog from its blobs: plain, gzip, zstd and index, in one pass.

Memory is bounded by the chunks in flight. Compression runs in threads next to the parsing, because
zlib-ng and zstd let go of the interpreter while they work.
"""

import hashlib
import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import orjson
import zstandard
from zlib_ng import zlib_ng

from catalogd.graphql.shape import CatalogShape
from catalogd.index import IndexBuilder, Query, Sum, extracts_with
from catalogd.io.content import (
    FILES,
    GZIP,
    INDEX_FILE,
    MANIFEST_FILE,
    PLAIN,
    SHAPE_FILE,
    ZSTD,
    Manifest,
)
from olm_catalogs.job import MAX_OBJECTS
from olm_content.fbc.documents import Blob
from olm_runtime import gzip_parts

CHUNK_BYTES = 256 << 10
CHUNKS_IN_FLIGHT = 4
GZIP_LEVEL = 7
"""Of zlib-ng: no larger than level 6 of zlib, in half the time. Level 8 makes it little smaller."""
ZSTD_LEVEL = 2
"""A third quicker than level 3, and a twentieth larger at most."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A piece of the plain file, of a run of blobs of one schema and package."""

    data: bytes
    schema: str
    package: str
    ends_group: bool


_END = _Chunk(b"", "", "", ends_group=False)


class _Digesting:
    """A file that knows its size and digest."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._sum = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self._sum.update(data)
        self.size += len(data)

    def close(self) -> str:
        """Ends the file; its digest."""
        self._file.close()
        return self._sum.hexdigest()


class _Gzip:
    """The gzip variant: one stream for `/all`, whose groups can be cut out for `/metas`.

    A full flush ends a group at a byte and forgets what came before, so the segment can follow
    any header and any other segment.
    """

    def __init__(self, out: _Digesting) -> None:
        self._out = out
        self._deflate = zlib_ng.compressobj(GZIP_LEVEL, zlib_ng.DEFLATED, -zlib_ng.MAX_WBITS)
        self._whole = Sum()
        self.sums: dict[Query, Sum] = {}
        out.write(gzip_parts.HEADER)
        self.segments = [out.size]

    def take(self, chunk: _Chunk) -> None:
        added = Sum(zlib_ng.crc32(chunk.data), len(chunk.data))
        self._whole = _with(self._whole, added)
        for query in extracts_with(chunk.schema, chunk.package):
            self.sums[query] = _with(self.sums.get(query, Sum()), added)
        self._out.write(self._deflate.compress(chunk.data))
        if chunk.ends_group:
            self._out.write(self._deflate.flush(zlib_ng.Z_FULL_FLUSH))
            self.segments.append(self._out.size)

    def end(self) -> None:
        self._out.write(self._deflate.flush())
        self._out.write(gzip_parts.trailer(self._whole.crc, self._whole.size))


def _with(total: Sum, added: Sum) -> Sum:
    """Of what both are of, one behind the other; none of it is read again."""
    crc = zlib_ng.crc32_combine(total.crc, added.crc, added.size)
    return Sum(crc, total.size + added.size)


class _Zstd:
    """The zstd variant, one frame."""

    def __init__(self, out: _Digesting) -> None:
        self._out = out
        self._compress = zstandard.ZstdCompressor(
            level=ZSTD_LEVEL, write_checksum=True
        ).compressobj()

    def take(self, chunk: _Chunk) -> None:
        self._out.write(self._compress.compress(chunk.data))

    def end(self) -> None:
        self._out.write(self._compress.flush())


class _Worker:
    """Runs a stage in a thread of its own, fed through a short queue."""

    def __init__(self, take: Callable[[_Chunk], None], end: Callable[[], None]) -> None:
        self._take, self._end = take, end
        self._chunks: queue.Queue[_Chunk] = queue.Queue(CHUNKS_IN_FLIGHT)
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, chunk: _Chunk) -> None:
        self._chunks.put(chunk)

    def finish(self) -> None:
        """Waits for all work. Raises what the stage raised."""
        self._chunks.put(_END)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Waits until nothing is written any more; what was raised no longer matters."""
        if self._thread.is_alive():
            self._chunks.put(_END)
            self._thread.join()

    def _run(self) -> None:
        while (chunk := self._chunks.get()) is not _END:
            self._step(partial(self._take, chunk))
        self._step(self._end)

    def _step(self, work: Callable[[], None]) -> None:
        """Once it failed, the stage only empties its queue, so that the reader never blocks."""
        if self._error is None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - handed to finish
                self._error = error


class _Grouper:
    """Gathers blobs into chunks and notices where the schema or the package changes."""

    def __init__(
        self, emit: Callable[[_Chunk], None], objects: int, shape: CatalogShape | None
    ) -> None:
        self._emit = emit
        self._shape = shape
        self._parts: list[bytes] = []
        self._size = 0
        self._group: tuple[str, str] | None = None
        self.firsts: list[int] = []
        self.index = IndexBuilder(objects)

    def add(self, blob: Blob) -> None:
        if self._shape is not None:
            self._shape.add(blob.schema, orjson.loads(blob.raw))
        group = blob.schema, blob.package
        if group != self._group:
            self._flush(ends_group=True)
            self.firsts.append(len(self.index))
            self._group = group
        line = blob.raw + b"\n"
        self.index.add(schema=blob.schema, package=blob.package, name=blob.name, length=len(line))
        self._parts.append(line)
        self._size += len(line)
        if self._size >= CHUNK_BYTES:
            self._flush(ends_group=False)

    def finish(self) -> None:
        self._flush(ends_group=True)

    def _flush(self, *, ends_group: bool) -> None:
        """A blob that is larger than a chunk leaves in several, so that few of it are in flight."""
        data = b"".join(self._parts)
        self._parts, self._size = [], 0
        if self._group is None or not (data or ends_group):
            return
        for begin in range(0, max(len(data), 1), CHUNK_BYTES):
            end = begin + CHUNK_BYTES
            self._emit(_Chunk(data[begin:end], *self._group, ends_group and end >= len(data)))


def write_content(
    blobs: Iterable[Blob], folder: Path, *, objects: int = MAX_OBJECTS, shaped: bool = False
) -> Manifest:
    """Writes all files of a version into the empty folder; the manifest last.

    With `shaped` also which fields its objects have, for GraphQL. Raises what reading `blobs`
    raises, OSError, and TooManyObjectsError beyond `objects` blobs.
    """
    outs = {coding: _Digesting(folder / name) for coding, name in FILES.items()}
    gzipped, zstd = _Gzip(outs[GZIP]), _Zstd(outs[ZSTD])
    workers = [_Worker(gzipped.take, gzipped.end), _Worker(zstd.take, zstd.end)]

    def emit(chunk: _Chunk) -> None:
        for worker in workers:
            worker.put(chunk)
        outs[PLAIN].write(chunk.data)

    shape = CatalogShape() if shaped else None
    grouper = _Grouper(emit, objects, shape)
    try:
        for blob in blobs:
            grouper.add(blob)
        grouper.finish()
        for worker in workers:
            worker.finish()
    except BaseException:
        for worker in workers:
            worker.abandon()
        for out in outs.values():
            out.close()
        raise
    grouper.index.add_groups(grouper.firsts, gzipped.segments, gzipped.sums)
    files = {FILES[coding]: out for coding, out in outs.items()}
    files[INDEX_FILE] = _written(folder / INDEX_FILE, grouper.index.to_json())
    if shape is not None:
        files[SHAPE_FILE] = _written(folder / SHAPE_FILE, [orjson.dumps(shape.document())])
    digests = {name: file.close() for name, file in files.items()}
    manifest = Manifest(
        version=digests[FILES[PLAIN]],
        blobs=len(grouper.index),
        sizes={name: file.size for name, file in files.items()},
        digests=digests,
    )
    (folder / MANIFEST_FILE).write_bytes(manifest.to_json())
    return manifest


def _written(path: Path, pieces: Iterable[bytes]) -> _Digesting:
    file = _Digesting(path)
    for piece in pieces:
        file.write(piece)
    return file
