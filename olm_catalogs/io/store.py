"""Catalog content on disk: `ROOT/NAME/{state.json,VERSION/}`, and what of it is being served.

`state.json` is the commit point: it is replaced by one rename, and names the version that counts.
Whatever else lies in a catalog's folder is an interrupted attempt or an old version. So a process
killed at any time leaves either the old content or the new one, never a mixture.
"""

import asyncio
import logging
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from olm_catalogs.io.versions import CorruptContentError
from olm_catalogs.stored import Stored, read_stored
from olm_runtime.disk import disk_error
from olm_runtime.errors import TransientError
from olm_runtime.folders import TEMPORARY, remove_tree

log = logging.getLogger(__name__)

STATE_FILE = "state.json"


class OpenVersion(Protocol):
    """A version whose files are open."""

    def retire(self) -> None:
        """Another one is served from now on: closes the files once nobody reads them."""


V = TypeVar("V", bound=OpenVersion)
V_co = TypeVar("V_co", bound=OpenVersion, covariant=True)


@dataclass(frozen=True)
class Serving(Generic[V]):
    """What is served for a catalog: what is known of it, and its files."""

    stored: Stored
    content: V


class Opening(Protocol[V_co]):
    """Opens the folder of a version."""

    def __call__(self, folder: Path, *, verify: bool) -> V_co:
        """`verify` compares every file with its digest. Raises CorruptContentError, OSError."""


class Store(Generic[V]):
    """The contents of all catalogs. Methods that touch the disk leave the event loop free."""

    def __init__(self, root: Path, opening: Opening[V]) -> None:
        self._root = root
        self._open = opening
        self._serving: dict[str, Serving[V]] = {}

    def find(self, name: str) -> Serving[V] | None:
        """What is served for a catalog now."""
        return self._serving.get(name)

    def names(self) -> list[str]:
        """The catalogs that are served."""
        return sorted(self._serving)

    def serving(self) -> list[tuple[str, Serving[V]]]:
        """What is served, by the names of the catalogs."""
        return sorted(self._serving.items())

    async def load(self, name: str, *, source: str = "") -> Stored | None:
        """What is stored for a catalog; opened for serving when it was not yet.

        With `source`, only content of that canonical reference. Content that does not match its
        digests is removed: it will be fetched again.
        """
        if name not in self._serving:
            found = await asyncio.to_thread(self._read, name, source)
            if found is None:
                return None
            self._serving[name] = found
        return self._serving[name].stored

    async def commit(self, name: str, stored: Stored) -> None:
        """Makes a version, whose folder is there, the one that is served.

        Raises TransientError when the disk fails or the version is not whole.
        """
        current = self._serving.get(name)
        if current is not None and current.stored == stored:
            return
        same = current is not None and current.stored.version == stored.version
        try:
            serving = await asyncio.to_thread(self._commit, name, stored, current if same else None)
        except OSError as error:
            raise disk_error(f"store catalog {name}", self._root, error) from error
        except CorruptContentError as error:
            raise TransientError(f"cannot store catalog {name}: {error}") from error
        self._serve(name, serving)
        if not same:
            await asyncio.to_thread(self._remove_others, name, stored.version)

    async def withdraw(self, name: str) -> None:
        """Serves a catalog no more and removes its content; what stays is collected later."""
        self._serve(name, None)
        await asyncio.to_thread(_drop, self._root / name)

    async def collect(self, names: Collection[str]) -> None:
        """Removes the content of catalogs that do not exist."""
        for entry in await asyncio.to_thread(_entries, self._root):
            if entry not in names:
                await self.withdraw(entry)

    def close(self) -> None:
        """Serves nothing any more; content stays on disk."""
        for name in self.names():
            self._serve(name, None)

    def _serve(self, name: str, serving: Serving[V] | None) -> None:
        """Serves this from now on; what was served is closed unless it is the same content."""
        old = self._serving.pop(name, None)
        if serving is not None:
            self._serving[name] = serving
        if old is not None and (serving is None or old.content is not serving.content):
            old.content.retire()

    def _read(self, name: str, source: str) -> Serving[V] | None:
        folder = self._root / name
        try:
            stored = read_stored((folder / STATE_FILE).read_bytes())
            if stored is not None and source not in ("", stored.source):
                return None
            if stored is not None:
                return Serving(stored, self._open(folder / stored.version, verify=True))
            log.warning("catalog %s: %s cannot be read", name, STATE_FILE)
        except FileNotFoundError:
            return None
        except (OSError, CorruptContentError) as error:
            log.warning("catalog %s: stored content is dropped: %s", name, error)
        _drop(folder)
        return None

    def _commit(self, name: str, stored: Stored, same: Serving[V] | None) -> Serving[V]:
        """`same` is what is served, if that is the same content."""
        folder = self._root / name
        if same is not None:
            _write_state(folder, stored)
            return Serving(stored, same.content)
        content = self._open(folder / stored.version, verify=False)
        try:
            _write_state(folder, stored)
        except OSError:
            content.retire()
            raise
        return Serving(stored, content)

    def _remove_others(self, name: str, version: str) -> None:
        for entry in (self._root / name).iterdir():
            if entry.name not in (STATE_FILE, version):
                remove_tree(entry)


def _write_state(folder: Path, stored: Stored) -> None:
    aside = folder / f"{TEMPORARY}{STATE_FILE}"
    with aside.open("wb") as file:
        file.write(stored.to_json())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(folder / STATE_FILE)


def _drop(folder: Path) -> None:
    """Removes content that is no longer served. Errors of the disk are only logged."""
    try:
        remove_tree(folder)
    except OSError as error:
        log.warning("%s", disk_error("remove stored content", folder, error))


def _entries(root: Path) -> list[str]:
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    return [entry.name for entry in root.iterdir()]
