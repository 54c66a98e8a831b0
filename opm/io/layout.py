"""Writes images as an OCI image layout: a folder that registries' tools read, too.

Layers are the same bytes for the same files: entries in order of their names, owned by root, times
and modes fixed, compressed without name and time. They are written as they are read, so memory
does not grow with them.
"""

import gzip
import hashlib
import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from olm_runtime.errors import TerminalError, of_system
from olm_runtime.images.oci import OCI_INDEX, OCI_LAYER, Descriptor, descriptors
from olm_runtime.registry.layout_files import blob_path
from olm_runtime.suggestions import suggestion_or_all
from opm.image import Layer, described

NAME_ANNOTATION = "org.opencontainers.image.ref.name"
_LEVEL = 6
"""The higher ones cost twice the time for a hundredth of the size."""
_VERSION = {"imageLayoutVersion": "1.0.0"}


class Layout:
    """A layout being written."""

    def __init__(self, root: Path) -> None:
        """Begins one, or goes on with one that is there. Raises TerminalError for other folders."""
        self.root = root
        self._named: dict[str, Any] | None = None
        marker = root / "oci-layout"
        if root.exists() and not marker.is_file() and (not root.is_dir() or any(root.iterdir())):
            raise TerminalError(
                f"{root} is there and is no OCI image layout", hint="give an empty or new folder"
            )
        try:
            (root / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
            marker.write_bytes(orjson.dumps(_VERSION))
        except OSError as error:
            raise TerminalError(f"{error.filename}: {error.strerror}") from error

    def place(self, digest: str) -> Path:
        """Where the blob of a digest is, or goes."""
        return blob_path(self.root, digest)

    def add(self, media_type: str, data: bytes) -> Descriptor:
        """Writes a blob."""
        blob = Descriptor(media_type, f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        self.place(blob.digest).write_bytes(data)
        return blob

    def add_layer(self, files: Mapping[str, Path]) -> Layer:
        """Writes a layer of files by their path in the image. Raises TerminalError."""
        aside = self.root / "blobs" / ".layer"
        try:
            with aside.open("wb") as opened:
                compressed = _Summing(opened)
                with gzip.GzipFile("", "wb", _LEVEL, compressed, mtime=0) as zipped:
                    archive = _Summing(zipped)
                    _write_archive(files, archive)
        except OSError as error:
            raise TerminalError(f"{error.filename or aside}: {error.strerror or error}") from error
        descriptor = Descriptor(OCI_LAYER, compressed.digest, compressed.size)
        aside.replace(self.place(descriptor.digest))
        return Layer(descriptor, archive.digest)

    def find(self, name: str) -> Descriptor:
        """The image under a name. Raises TerminalError, ImageContentError."""
        entry = self._entries().get(name)
        if entry is None:
            hint = suggestion_or_all(name, self._entries(), none="it has none")
            raise TerminalError(f"{self.root} has no image {name}", hint=hint)
        (image,) = descriptors(orjson.dumps(_index([entry])), OCI_INDEX)
        return image

    def has(self, name: str) -> bool:
        """Whether there is an image under a name. Raises TerminalError."""
        return name in self._entries()

    def name(self, image: Descriptor, tags: Iterable[str]) -> None:
        """Enters the image under tags; what had them before loses them. Raises TerminalError."""
        self.name_all(dict.fromkeys(tags, image))

    def name_all(self, images: Mapping[str, Descriptor]) -> None:
        """Enters images under their tags, all by one change of the index. Raises TerminalError."""
        entries = self._entries()
        for tag, image in images.items():
            entries[tag] = {**described(image), "annotations": {NAME_ANNOTATION: tag}}
        index, aside = self.root / "index.json", self.root / ".index.json"
        try:
            aside.write_bytes(orjson.dumps(_index(list(entries.values()))))
            aside.replace(index)
        except OSError as error:
            raise of_system(error) from error

    def _entries(self) -> dict[str, Any]:
        """What the index says, by tag. Only we write it, so it is read once."""
        if self._named is None:
            path = self.root / "index.json"
            try:
                found = orjson.loads(path.read_bytes())["manifests"] if path.exists() else []
                self._named = {_tag(entry): entry for entry in found}
            except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
                raise TerminalError(f"{path} is no index of images: {error}") from error
        return self._named


@contextmanager
def layout_in(folder: Path | None) -> Iterator[Layout]:
    """A layout in a folder that stays, or in a temporary one. Raises TerminalError."""
    if folder is not None:
        yield Layout(folder)
        return
    with tempfile.TemporaryDirectory(prefix="oci-layout-") as temporary:
        yield Layout(Path(temporary, "layout"))


def _index(entries: Sequence[Any]) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries}


def _tag(entry: Mapping[str, Any]) -> str:
    return str((entry.get("annotations") or {}).get(NAME_ANNOTATION) or entry["digest"])


class _Summing(io.RawIOBase):
    """Passes bytes on, and knows how many they were and their digest."""

    def __init__(self, target: io.BufferedIOBase | io.RawIOBase) -> None:
        self._target = target
        self._sum = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        return f"sha256:{self._sum.hexdigest()}"

    def write(self, data: Any, /) -> int:
        self._sum.update(data)
        self.size += memoryview(data).nbytes
        self._target.write(data)
        return memoryview(data).nbytes


def _write_archive(files: Mapping[str, Path], target: io.RawIOBase) -> None:
    with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in _with_folders(files):
            entry = tarfile.TarInfo(path)
            source = files.get(path)
            if source is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
                continue
            with source.open("rb") as opened:
                entry.size, entry.mode = os.fstat(opened.fileno()).st_size, 0o644
                archive.addfile(entry, opened)


def _with_folders(paths: Iterable[str]) -> list[str]:
    given = set(paths)
    above = {str(parent) for path in given for parent in PurePosixPath(path).parents}
    return sorted(given | above - {"."})


def files_below(folder: Path, prefix: str) -> dict[str, Path]:
    """All files below a folder by their path in the image, which begins with `prefix`.

    Raises TerminalError for links and special files: readers of catalogs do not follow them.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            found[f"{prefix}{path.relative_to(folder).as_posix()}"] = path
        elif not stat.S_ISDIR(mode):
            raise TerminalError(f"{path} is a link or special file", hint="put a file in its place")
    return found
