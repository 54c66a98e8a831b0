"""The releases of a repository: what each image says of itself, read once for each digest.

The cache on disk has a file for each digest, so that a restart asks for tags and manifests only.
"""

import asyncio
import hashlib
import logging
import random
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import orjson

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.releases import GraphRelease, releases_of
from cluster_version.io.release_metadata import Found, read_release
from olm_runtime.disk import disk_errors
from olm_runtime.errors import OLMError
from olm_runtime.folders import TEMPORARY, remove_tree
from olm_runtime.images.layers import LayerError
from olm_runtime.images.oci import ImageContentError
from olm_runtime.images.reference import ImageRef
from olm_runtime.registry.client import RegistryClient
from olm_runtime.registry.errors import ImageNotFoundError
from olm_runtime.registry.settings import PullSettings
from olm_runtime.registry.tags import list_tags

TAGS_AT_ONCE, IMAGES_AT_ONCE = 8, 2

_ABOUT_IMAGES = re.compile(r"sha256-[0-9a-f]{64}(\..+)?")
"""Tags under which signatures and other things about an image are stored."""

T = TypeVar("T")
R = TypeVar("R")

log = logging.getLogger(__name__)


class ReleaseScan:
    """Looks at all tags of a repository."""

    def __init__(self, repository: ImageRef, settings: PullSettings, cache: Path) -> None:
        """`cache` may be shared by several."""
        self._repository = repository
        self._settings = settings
        self._cache = cache
        name = hashlib.sha256(repository.name.encode()).hexdigest()[:16]
        self._list = cache / f"repository-{name}.json"
        self._known: dict[str, Found] = {}
        self._releases: list[GraphRelease] | None = None
        self._reported: set[str] = set()

    async def look(self) -> Sequence[GraphRelease] | None:
        """The releases in the order of their tags; None while they are the same.

        What an image has wrong is logged, and it is left out. Raises RegistryError and others of
        registries, DiskError: then all that was known still holds.
        """
        with disk_errors("make the cache folder", self._cache):
            self._cache.mkdir(parents=True, exist_ok=True)
        tags = await list_tags(self._settings, self._repository, jitter=random.random)
        named = sorted(tag for tag in tags if not _ABOUT_IMAGES.fullmatch(tag))
        async with RegistryClient(self._settings, jitter=random.random) as client:
            found = await _all(named, lambda tag: self._resolved(client, tag), TAGS_AT_ONCE)
            images = list(dict.fromkeys(ref for ref in found if ref is not None))
            said = await _all(images, lambda ref: self._said(client, ref), IMAGES_AT_ONCE)
        pairs = [(ref, each) for ref, each in zip(images, said, strict=True) if each is not None]
        self._known = {ref.digest: each for ref, each in pairs}
        releases = [release for pair in pairs for release in self._releases_of(*pair)]
        if releases == self._releases:
            return None
        with disk_errors("note what is in a repository", self._cache):
            digests = [ref.digest for ref, _ in pairs]
            await asyncio.to_thread(_write, self._list, orjson.dumps(digests))
        self._releases = releases
        return releases

    async def remembered(self) -> Sequence[GraphRelease] | None:
        """The releases of the last look, perhaps of another process; None if there was none."""
        return await asyncio.to_thread(self._from_disk)

    def _from_disk(self) -> list[GraphRelease] | None:
        try:
            digests = orjson.loads(self._list.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        pairs = [
            (self._repository.canonical(digest), found)
            for digest in digests
            if (found := _load(self._file(digest))) is not None
        ]
        return [release for pair in pairs for release in self._releases_of(*pair)]

    def _file(self, digest: str) -> Path:
        return self._cache / f"{digest.replace(':', '-')}.json"

    async def _resolved(self, client: RegistryClient, tag: str) -> ImageRef | None:
        """The image that a tag names; None if it is gone by now."""
        try:
            return await client.resolve(self._repository._replace(tag=tag))
        except ImageNotFoundError:
            return None

    async def _said(self, client: RegistryClient, ref: ImageRef) -> Found | None:
        """What an image says; None for one that cannot be read."""
        file = self._file(ref.digest)
        known = self._known.get(ref.digest) or await asyncio.to_thread(_load, file)
        if known is not None:
            return known
        try:
            with disk_errors(f'read image "{ref}"', self._cache):
                found = await _in_folder(self._cache, lambda work: read_release(client, ref, work))
                await asyncio.to_thread(_store, file, found)
        except (ImageContentError, ImageNotFoundError, LayerError) as error:
            self._report(ref, error)
            return None
        return found

    def _releases_of(self, ref: ImageRef, found: Found) -> list[GraphRelease]:
        if found.metadata is None:
            return []
        try:
            return releases_of(found.metadata, payload=str(ref), architectures=found.architectures)
        except GraphDataError as error:
            self._report(ref, error)
            return []

    def _report(self, ref: ImageRef, error: OLMError) -> None:
        if ref.digest not in self._reported:
            self._reported.add(ref.digest)
            log.warning("%s is left out: %s", ref, error.message)


async def _all(things: Iterable[T], ask: Callable[[T], Awaitable[R]], at_once: int) -> list[R]:
    """The answers in order; the first error ends all."""
    room = asyncio.Semaphore(at_once)

    async def one(thing: T) -> R:
        async with room:
            return await ask(thing)

    tasks = [asyncio.ensure_future(one(thing)) for thing in things]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


async def _in_folder(base: Path, work: Callable[[Path], Awaitable[R]]) -> R:
    """The result of work in a temporary folder."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=TEMPORARY, dir=base))
    try:
        return await work(folder)
    finally:
        await asyncio.to_thread(remove_tree, folder)


def _load(file: Path) -> Found | None:
    try:
        stored = orjson.loads(file.read_bytes())
        return Found(tuple(stored["architectures"]), stored["metadata"])
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _store(file: Path, found: Found) -> None:
    stored = {"architectures": found.architectures, "metadata": found.metadata}
    _write(file, orjson.dumps(stored))


def _write(file: Path, content: bytes) -> None:
    """The file is there whole or as it was."""
    handle, part = tempfile.mkstemp(prefix=TEMPORARY, dir=file.parent)
    with open(handle, "wb") as opened:  # noqa: PTH123 - a descriptor
        opened.write(content)
    Path(part).rename(file)
