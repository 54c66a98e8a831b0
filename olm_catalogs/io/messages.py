"""A catalog on disk as the registry API answers it: an index, and the messages of all bundles.

It is written package by package, so memory grows with the largest of them. Of what is open only
the index is in memory; messages are read when they are asked for.
"""

import hashlib
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from google.protobuf import json_format, struct_pb2

from olm_catalogs.io.spool import Spool
from olm_catalogs.io.versions import CorruptContentError
from olm_catalogs.registry import registry_pb2
from olm_catalogs.registry.building import build, check_meta, refuse
from olm_catalogs.registry.index import Index, Package, ServedEntry
from olm_catalogs.registry.stored import Metas, Span, Stored, dump, load
from olm_catalogs.validate import Fault
from olm_catalogs.validate.checks import check_group
from olm_content.fbc.records import Record

FORMAT = "opm.v1"
"""Changes whenever what is stored does."""

INDEX, BUNDLES = "index.json", "bundles"


class Catalog:
    """What is open. What it hands out are serialised messages.

    Its file is closed when nobody has the catalog any more: answers under way end with what they
    began with.
    """

    def __init__(self, stored: Stored, descriptor: int) -> None:
        """`descriptor` is that of the file of bundles, and closed by this."""
        self.stored = stored
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

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

    def retire(self) -> None:
        """Another one is served from now on."""

    def _read(self, offset: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, offset)


def _place(entry: ServedEntry) -> bytes:
    found = registry_pb2.Bundle(channelName=entry.channel, skipRange=entry.skip_range)
    serialized: bytes = found.SerializeToString()
    return serialized


def open_messages(folder: Path) -> Catalog:
    """Opens what `write_messages` wrote.

    Raises OSError, and ValueError, TypeError or LookupError for an index that is none.
    """
    stored = load((folder / INDEX).read_bytes())
    return Catalog(stored, os.open(folder / BUNDLES, os.O_RDONLY | os.O_CLOEXEC))


def version_of(folder: Path) -> str:
    """What names the content of a folder that `write_messages` wrote. Raises OSError."""
    digest = hashlib.sha256(FORMAT.encode())
    for name in (INDEX, BUNDLES):
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def open_version(folder: Path, *, verify: bool) -> Catalog:
    """Opens a folder that is named by its version; `verify` compares them.

    Raises CorruptContentError.
    """
    try:
        if verify and version_of(folder) != folder.name:
            raise CorruptContentError(f"{folder} was changed")
        return open_messages(folder)
    except (OSError, ValueError, TypeError, LookupError) as error:
        raise CorruptContentError(f"{folder} cannot be read: {error}") from error


def write_messages(records: Iterable[Record], folder: Path) -> None:
    """Writes a catalog to an empty folder.

    Raises TerminalError for a catalog that `opm validate` would refuse, with every fault, and what
    reading `records` raises; OSError.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        spool = Spool(file)
        for each in records:
            spool.add(each)
        with (folder / BUNDLES).open("wb") as bundles:
            packages, spans = _write_packages(spool, bundles)
            metas = _write_metas(spool.others(), bundles)
    (folder / INDEX).write_bytes(dump(packages, spans, metas))


def _write_packages(spool: Spool, file: IO[bytes]) -> tuple[list[Package], list[Span]]:
    packages: list[Package] = []
    spans: list[Span] = []
    faults: list[Fault] = []
    for group in spool.groups():
        faults += (fault for fault in check_group(group) if not fault.warning)
        if faults:
            continue
        package, messages = build(group, first=len(spans))
        packages.append(package)
        for each in messages:
            spans.append(Span(file.tell(), len(each.core), len(each.content), each.has_image))
            file.write(each.core)
            file.write(each.content)
    refuse(faults)
    return packages, spans


def _write_metas(records: Iterable[Record], file: IO[bytes]) -> Metas:
    metas: dict[str, dict[str, list[list[int]]]] = {}
    for each in records:
        check_meta(each)
        message = json_format.ParseDict(each.value, struct_pb2.Struct())
        data = message.SerializeToString(deterministic=True)  # same content, same version
        place = [file.tell(), len(data)]
        file.write(data)
        metas.setdefault(each.schema, {}).setdefault(each.package, []).append(place)
    return metas
