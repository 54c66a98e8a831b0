"""Applies image layers to a folder, as `images.layers` decides. Blocking: call it in a thread.

No symbolic link is ever written, so the target folder cannot be left by following one.
"""

import gzip
import io
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

import zstandard
from zlib_ng import gzip_ng, zlib_ng

from olm_runtime.images.layers import Action, Decision, Entry, Gate, Kind, LayerError, Rules
from olm_runtime.images.limits import raise_hint
from olm_runtime.registry.client import LayerFile

COPY_BYTES = 256 << 10
ZSTD_WINDOWS = range(1 << 10, (1 << 31) + 1)
"""What the library takes as a bound."""
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Readable(Protocol):
    """What decompressors have in common."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end."""


def unpack(layers: Sequence[LayerFile], into: Path, rules: Rules) -> None:
    """Applies the layers in order to the empty folder `into`.

    Raises LayerError naming the layer (counted from 0) and the fault.
    """
    gate = Gate(rules)
    for number, layer in enumerate(layers):
        try:
            with _tar_stream(layer.path, gate) as stream:
                _Layer(into, gate).apply(stream)
        except LayerError as error:
            message = f"error applying layer[{number}]: {error.message}"
            raise LayerError(message, hint=error.hint) from error
        except _BROKEN as error:
            raise LayerError(f"error reading layer[{number}]: {error}") from error


_ZLIB: type[Exception] = zlib_ng.error  # type: ignore[assignment]  # its stub has an instance
_BROKEN = (tarfile.TarError, EOFError, _ZLIB, gzip.BadGzipFile, zstandard.ZstdError)


class _ForwardStream(io.RawIOBase):
    """Decompressed bytes as tarfile needs them: seekable, but only forward.

    tarfile reads an extended header whole, however long it claims to be: one read is bounded.
    """

    def __init__(self, raw: IO[bytes], decompressed: Readable, gate: Gate) -> None:
        self._raw = raw
        self._source = decompressed
        self._gate = gate
        self._most = max(gate.limits.header_bytes, COPY_BYTES)
        self._position = 0

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= self._most:
            raise LayerError(
                f"a header claims more than {self._most} bytes", hint=raise_hint("header_bytes")
            )
        parts, missing = [], size
        while missing:
            part = self._source.read(missing)
            if not part:
                break
            parts.append(part)
            missing -= len(part)
        self._position += size - missing
        self._gate.check_ratio(compressed=self._raw.tell(), uncompressed=self._position)
        return b"".join(parts)

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if whence != 0 or offset < self._position:
            raise LayerError("tar headers overlap")
        while self._position < offset:
            if not self.read(min(COPY_BYTES, offset - self._position)):
                break
        return self._position


@contextmanager
def _tar_stream(path: Path, gate: Gate) -> Iterator[_ForwardStream]:
    """The layer's tar. Its first bytes say how it is compressed; upstream looks there, too."""
    with path.open("rb") as raw:
        magic = raw.read(4)
        raw.seek(0)
        if magic.startswith(GZIP_MAGIC):
            with gzip_ng.GzipNGFile(fileobj=raw) as plain:  # type: ignore[no-untyped-call]
                yield _ForwardStream(raw, plain, gate)
        elif magic == ZSTD_MAGIC:
            with _zstd(raw, gate.limits.window_bytes) as plain:
                yield _ForwardStream(raw, plain, gate)
        else:
            yield _ForwardStream(raw, raw, gate)


@contextmanager
def _zstd(raw: IO[bytes], window_bytes: int) -> Iterator[Readable]:
    bound = min(max(window_bytes, ZSTD_WINDOWS.start), ZSTD_WINDOWS.stop - 1)
    decompressor = zstandard.ZstdDecompressor(max_window_size=bound)
    try:
        with decompressor.stream_reader(raw, read_across_frames=True, closefd=False) as reader:
            yield reader
    except zstandard.ZstdError as error:
        if "too much memory" in str(error):
            raise LayerError(
                f"zstd asks for more than {bound} bytes of memory", hint=raise_hint("window_bytes")
            ) from error
        raise


class _Layer:
    """One layer being applied; remembers what it wrote, because whiteouts mean lower layers."""

    def __init__(self, into: Path, gate: Gate) -> None:
        self._into = into
        self._gate = gate
        self._written: set[str] = set()

    def apply(self, stream: _ForwardStream) -> None:
        with tarfile.open(fileobj=stream, mode="r:", errorlevel=1) as tar:
            while (member := tar.next()) is not None:
                self._apply(tar, member)
                # tarfile keeps every member it saw; a million headers are not to be remembered.
                tar.members = []  # type: ignore[attr-defined]

    def _apply(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        decision = self._gate.admit(_entry(member))
        path = self._into / decision.path
        match decision.action:
            case Action.WRITE:
                self._write(tar.extractfile(member), path, decision)
            case Action.MAKE_FOLDER:
                self._make_folder(path, decision)
            case Action.COPY:
                self._copy(path, decision)
            case Action.REMOVE:
                if decision.path not in self._written:
                    _remove(path)
            case Action.EMPTY:
                self._empty(path)
            case Action.SKIP:
                pass

    def _write(self, source: IO[bytes] | None, path: Path, decision: Decision) -> None:
        if source is None:
            raise LayerError(f'"{decision.path}" has no content')
        self._prepare(path, decision)
        with path.open("xb") as file:
            shutil.copyfileobj(source, file, COPY_BYTES)

    def _copy(self, path: Path, decision: Decision) -> None:
        source = self._into / decision.source
        if not source.is_file():
            raise LayerError(f'"{decision.path}" is a hard link to "{decision.source}": not there')
        self._gate.count_copy(decision.path, source.stat().st_size)
        if source == path:
            return
        self._prepare(path, decision)
        if not source.is_file():
            raise LayerError(
                f'"{decision.path}" is a hard link to "{decision.source}", whose place it takes'
            )
        shutil.copyfile(source, path)

    def _make_folder(self, path: Path, decision: Decision) -> None:
        if not path.is_dir():
            self._prepare(path, decision)
            path.mkdir()
        self._written.add(decision.path)

    def _prepare(self, path: Path, decision: Decision) -> None:
        """Makes room: what was at `path` goes, what is above it becomes a folder."""
        _remove(path)
        for parent in reversed(path.relative_to(self._into).parents[:-1]):
            folder = self._into / parent
            if folder.is_file():
                folder.unlink()
            folder.mkdir(exist_ok=True)
            self._written.add(parent.as_posix())
        self._written.add(decision.path)

    def _empty(self, folder: Path) -> None:
        if folder.is_dir():
            for child in folder.iterdir():
                if child.relative_to(self._into).as_posix() not in self._written:
                    _remove(child)
                elif child.is_dir():
                    self._empty(child)


def _entry(member: tarfile.TarInfo) -> Entry:
    if member.issparse():
        kind = Kind.SPARSE
    elif member.isreg():
        kind = Kind.FILE
    elif member.isdir():
        kind = Kind.FOLDER
    elif member.issym():
        kind = Kind.SYMLINK
    elif member.islnk():
        kind = Kind.HARDLINK
    else:
        kind = Kind.SPECIAL
    return Entry(member.name, kind, member.size, member.linkname)


def _remove(path: Path) -> None:
    """Below a file there is nothing, as nothing may be at `path`."""
    if path.is_dir():
        shutil.rmtree(path)
        return
    with suppress(FileNotFoundError, NotADirectoryError):
        path.unlink()
