"""What catalogs said of packages: on disk for restarts and outages, in memory under a bound.

One file for a catalog and package, of the newest content that was asked for: a header line, then
a line for each blob. A file that cannot be read, whatever the reason, counts as absent; a disk that
cannot be written costs requests, and no extension.
"""

import asyncio
import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from olm_content.fbc.model import Package
from olm_runtime.errors import OLMError
from operator_controller.catalog import BrokenPackageError, build_package
from operator_controller.io.catalog_addresses import Blobs

FORMAT = 1
MAX_MEMORY_BYTES = 4 * 1024 * 1024
"""Of the texts that packages were built from; as objects they take three times as much."""

Header = dict[str, Any]
HEADER_TEXTS = ("source", "changedIn", "fingerprint", "etag")

log = logging.getLogger(__name__)


class Known(NamedTuple):
    """A package as a catalog's content has it.

    source       digest reference of the content
    changed_in   the first content in which the package was as it is
    fingerprint  equal for equal blobs, in whatever order
    package      None where the content does not have it
    fault        why it cannot be read, if so
    """

    source: str
    changed_in: str
    fingerprint: str
    etag: str = ""
    package: Package | None = None
    fault: OLMError | None = None
    size: int = 0


class CatalogCache:
    """The newest known content of packages by catalog."""

    def __init__(
        self, folder: Path, max_bytes: int = MAX_MEMORY_BYTES, *, release_field: bool = False
    ) -> None:
        """`folder` is made when it is first written to; `release_field` as of `build_package`."""
        self._build = partial(build_package, release_field=release_field)
        self._folder = folder
        self._max_bytes = max_bytes
        self._memory: OrderedDict[tuple[str, str], Known] = OrderedDict()
        self._bytes = 0

    async def find(self, catalog: str, package: str) -> Known | None:
        """What is known of the package, of whatever content; None if nothing is."""
        key = (catalog, package)
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        found = await asyncio.to_thread(self._load, catalog, package)
        if found is not None:
            self._remember(key, found)
        return found

    async def put(self, catalog: str, package: str, source: str, blobs: Blobs) -> Known:
        """Keeps the answer of a catalog for the content `source`."""
        before = await self.find(catalog, package)
        fingerprint = _fingerprint(blobs.lines)
        same = before is not None and before.fingerprint == fingerprint
        header: Header = {
            "format": FORMAT,
            "source": source,
            "changedIn": before.changed_in if before and same else source,
            "fingerprint": fingerprint,
            "etag": blobs.etag,
        }
        known = await asyncio.to_thread(self._write, catalog, package, header, blobs.lines)
        self._remember((catalog, package), known)
        return known

    async def confirm(self, catalog: str, package: str, source: str) -> Known | None:
        """Notes that the content `source` has the package as it is known already."""
        content = await asyncio.to_thread(self._read, catalog, package)
        if content is None:
            return None
        header, lines = content
        return await self.put(catalog, package, source, Blobs(tuple(lines), header["etag"]))

    def forget(self, catalog: str) -> None:
        """Drops everything of a catalog that is gone; on disk, if that can be written."""
        for key in [key for key in self._memory if key[0] == catalog]:
            self._bytes -= self._memory.pop(key).size
        import shutil  # late: commands, which read catalogs by this, drop none

        try:
            shutil.rmtree(self._folder / catalog)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("cannot remove the cache of catalog %s: %s", catalog, error)

    def keep_only(self, catalog: str, packages: Collection[str]) -> None:
        """Drops what is known of other packages; on disk, if that can be written."""
        for key in [k for k in self._memory if k[0] == catalog and k[1] not in packages]:
            self._bytes -= self._memory.pop(key).size
        wanted = {self._path(catalog, package).name for package in packages}
        folder = self._folder / catalog
        try:
            for file in folder.iterdir() if folder.is_dir() else ():
                if file.stem not in wanted:
                    file.unlink(missing_ok=True)
        except OSError as error:
            log.warning("cannot tidy the cache of catalog %s: %s", catalog, error)

    def _remember(self, key: tuple[str, str], known: Known) -> None:
        old = self._memory.pop(key, None)
        self._bytes += known.size - (old.size if old else 0)
        self._memory[key] = known
        while self._bytes > self._max_bytes and len(self._memory) > 1:
            self._bytes -= self._memory.popitem(last=False)[1].size

    def _path(self, catalog: str, package: str) -> Path:
        return self._folder / catalog / hashlib.sha256(package.encode()).hexdigest()

    def _load(self, catalog: str, package: str) -> Known | None:
        content = self._read(catalog, package)
        if content is None:
            return None
        try:
            return self._known(package, *content)
        except Exception:
            log.exception("the cache of catalog %s is not used for %s", catalog, package)
            return None

    def _read(self, catalog: str, package: str) -> tuple[Header, list[bytes]] | None:
        """The header and the lines of a file, if they are what was written."""
        try:
            first, *lines = self._path(catalog, package).read_bytes().splitlines()
            header = orjson.loads(first)
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            log.warning("cannot read the cache of catalog %s: %s", catalog, error)
            return None
        whole = _is_header(header) and header["fingerprint"] == _fingerprint(lines)
        return (header, lines) if whole else None

    def _write(self, catalog: str, package: str, header: Header, lines: Sequence[bytes]) -> Known:
        """Writes the file in one step; without it only a restart or an outage costs more."""
        known = self._known(package, header, lines)  # first: what cannot be read is not cached
        path = self._path(catalog, package)
        draft = path.with_suffix(".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(b"\n".join([orjson.dumps(header), *lines]))
            os.replace(draft, path)  # noqa: PTH105 - says that an old one is replaced
        except OSError as error:
            log.warning("cannot write the cache of catalog %s: %s", catalog, error)
        return known

    def _known(self, package: str, header: Header, lines: Sequence[bytes]) -> Known:
        built, fault = None, None
        try:
            built = self._build(package, map(orjson.loads, lines))
        except BrokenPackageError as error:
            fault = error.with_traceback(None)
        return Known(
            source=header["source"],
            changed_in=header["changedIn"],
            fingerprint=header["fingerprint"],
            etag=header["etag"],
            package=built,
            fault=fault,
            size=sum(map(len, lines)) + 256,
        )


def _fingerprint(lines: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()


def _is_header(found: Any) -> bool:
    """Whether it is the header of a file that can be used."""
    return (
        isinstance(found, dict)
        and found.get("format") == FORMAT
        and all(isinstance(found.get(key), str) for key in HEADER_TEXTS)
    )
