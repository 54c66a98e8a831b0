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
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import OCI_INDEX, OCI_LAYER, Descriptor, descriptors
from olm_runtime.registry.push import blob_path
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

    def add(self, media_type: str, data: bytes) -> Descriptor:
        """Writes a blob."""
        blob = Descriptor(media_type, f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        blob_path(self.root, blob.digest).write_bytes(data)
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
        aside.replace(blob_path(self.root, descriptor.digest))
        return Layer(descriptor, archive.digest)

    def find(self, name: str) -> Descriptor:
        """The image under a name. Raises TerminalError, ImageContentError."""
        index = self._index()
        images = descriptors(orjson.dumps(index), OCI_INDEX)
        named = dict(zip(map(_tag, index["manifests"]), images, strict=True))
        if name not in named:
            known = ", ".join(sorted(named)) or "nothing"
            raise TerminalError(f"{self.root} has no image {name}", hint=f"it has {known}")
        return named[name]

    def has(self, name: str) -> bool:
        """Whether there is an image under a name."""
        return name in map(_tag, self._index()["manifests"])

    def name(self, image: Descriptor, tags: Iterable[str]) -> None:
        """Enters the image under tags; what had them before loses them."""
        index = self._index()
        named = {_tag(entry): entry for entry in index["manifests"]}
        for tag in tags:
            named[tag] = {**described(image), "annotations": {NAME_ANNOTATION: tag}}
        index["manifests"] = list(named.values())
        (self.root / "index.json").write_bytes(orjson.dumps(index))

    def _index(self) -> dict[str, Any]:
        path = self.root / "index.json"
        if not path.exists():
            return {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": []}
        index: dict[str, Any] = orjson.loads(path.read_bytes())
        return index


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
