"""The contents of catalogs as the resolver reads them: an index on disk for each.

An index is written from what the catalog's server streams, one bundle in memory at a time, once
for each change of the catalog. Until the next is whole the last one is read.
"""

import asyncio
import itertools
import logging
import os
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Protocol

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.io.entry_index import IndexReader, IndexWriter
from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.readers import Catalog, Reader
from olm_classic.resolve.registry_entries import UnreadableBundleError, deprecations_of, entry_of
from olm_runtime.errors import TransientError
from olm_runtime.folders import remove_tree

BATCH = 256
"""Bundles that are written at once, in a thread."""
RETAINED = 2
"""Indexes of a catalog: the last one may still be in question in a resolution."""

log = logging.getLogger(__name__)


class SnapshotError(TransientError):
    """An index that cannot be written."""


class Server(Protocol):
    """What a catalog's server is asked; olm_classic.io.registry has the connection."""

    def list_bundles(self) -> AsyncGenerator[messages.Bundle, None]:
        """Each bundle, once per channel."""

    async def get_package(self, name: str) -> messages.Package:
        """A package."""


class Snapshots:
    """The indexes of catalogs by name and namespace. `folder` belongs to it alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()
        self._files: dict[SourceKey, list[Path]] = {}
        self._locks: dict[SourceKey, asyncio.Lock] = {}
        remove_tree(folder)
        folder.mkdir(parents=True, mode=0o700)

    async def refresh(self, key: SourceKey, server: Server) -> None:
        """Writes the catalog's index anew. Raises what the server's calls raise, SnapshotError.

        Refreshes of one catalog go one after another; one that fails leaves the last index.
        """
        async with self._locks.setdefault(key, asyncio.Lock()):
            file = self._folder / f"{next(self._numbers)}-{os.getpid()}.sqlite"
            try:
                await self._write(file, key, server)
            except BaseException:
                file.unlink(missing_ok=True)
                raise
            self._take(key, file)

    def knows(self, key: SourceKey) -> bool:
        """Whether there is an index of the catalog."""
        return key in self._files

    def reader(self, key: SourceKey) -> IndexReader | None:
        """The catalog's content; None for one that was never read."""
        files = self._files.get(key)
        return IndexReader(files[-1], key) if files else None

    def catalog(self, key: SourceKey, priority: int = 0, problem: str = "") -> Catalog:
        """A catalog for the resolver; one without index cannot be asked."""
        content: Reader | None = None if problem else self.reader(key)
        if content is None:
            return Catalog(key, priority, problem=problem or no_connection(key))
        return Catalog(key, priority, content)

    def forget(self, key: SourceKey) -> None:
        """The catalog is gone."""
        for file in self._files.pop(key, []):
            file.unlink(missing_ok=True)

    async def _write(self, file: Path, key: SourceKey, server: Server) -> None:
        try:
            writer = await asyncio.to_thread(IndexWriter, file)
            try:
                async with aclosing(server.list_bundles()) as bundles:
                    async for batch in _batches(bundles):
                        await asyncio.to_thread(writer.add, _entries(batch, key))
                for name in await asyncio.to_thread(writer.packages):
                    package = await server.get_package(name)
                    writer.add_package(name, package.defaultChannelName, deprecations_of(package))
                await asyncio.to_thread(writer.finish)
            except BaseException:
                writer.abandon()
                raise
        except (sqlite3.Error, OSError) as error:
            raise SnapshotError(
                f"the content of catalogsource {key.namespace}/{key.name} cannot be stored: {error}"
            ) from error

    def _take(self, key: SourceKey, file: Path) -> None:
        files = self._files.setdefault(key, [])
        files.append(file)
        while len(files) > RETAINED:
            files.pop(0).unlink(missing_ok=True)


def no_connection(key: SourceKey) -> str:
    """Why a catalog without a connection cannot be asked."""
    return f"no registry client established for catalogsource {key.namespace}/{key.name}"


async def _batches(bundles: AsyncIterator[messages.Bundle]) -> AsyncIterator[list[messages.Bundle]]:
    batch: list[messages.Bundle] = []
    async for bundle in bundles:
        # The manifests are the most of it, and not looked at here.
        bundle.ClearField("csvJson")
        bundle.ClearField("object")
        batch.append(bundle)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _entries(
    bundles: Iterable[messages.Bundle], key: SourceKey
) -> Iterable[tuple[Entry, str | None]]:
    for bundle in bundles:
        try:
            entry = entry_of(bundle, key)
        except UnreadableBundleError as error:
            log.warning(
                "catalogsource %s/%s: bundle %s is left out: %s",
                key.namespace, key.name, bundle.csvName, error,
            )  # fmt: skip
            continue
        yield entry, bundle.deprecation.message if bundle.HasField("deprecation") else None
