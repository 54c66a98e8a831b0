"""Copies many images at once: between registries without a disk, or by way of a folder.

Each image is complete where it is named: its blobs are there before its manifests. What is there
already is not sent again, so an interrupted copy goes on where it was. A blob goes over the network
once, however many images have it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from olm_runtime.errors import OLMError, of_system
from olm_runtime.images.oci import Descriptor, inner_digests
from olm_runtime.images.reference import ImageRef
from olm_runtime.registry.client import WholeImage

AT_ONCE = 8
READ_AT_ONCE = 32
"""Manifests are small."""


@dataclass(frozen=True, slots=True)
class Copy:
    """An image to be copied: from where, and its place in a registry (None: in the folder).

    `subject` is the digest of the image whose referrers it lists; empty for other images.
    """

    source: ImageRef
    target: ImageRef | None = None
    subject: str = ""


@dataclass(slots=True)
class Progress:
    """How far it is, in images and bytes; `changed` is called after each change.

    `total` bytes are known when all images are read; those that are there already count as done.
    """

    changed: Callable[["Progress"], None] = lambda _: None
    images: int = 0
    done: int = 0
    total: int = 0
    passed: int = 0
    sent: int = 0

    def advance(self, *, passed: int = 0, sent: int = 0, done: int = 0, total: int = 0) -> None:
        """Adds to the counts."""
        self.passed += passed + sent
        self.sent += sent
        self.done += done
        self.total += total
        self.changed(self)


@dataclass(slots=True)
class Mirrored:
    """What came of it: the digests of images by their references, and what failed.

    `parts` are the digests of the manifests of an index: images for platforms, or what is listed.
    """

    digests: dict[ImageRef, str] = field(default_factory=dict)
    parts: dict[ImageRef, tuple[str, ...]] = field(default_factory=dict)
    copied: set[ImageRef] = field(default_factory=set)
    failures: dict[ImageRef, OLMError] = field(default_factory=dict)

    def add(self, other: "Mirrored") -> None:
        """What came of copying others."""
        self.digests |= other.digests
        self.parts |= other.parts
        self.copied |= other.copied
        self.failures |= other.failures


class From(Protocol):
    """Where images come from."""

    async def read_whole(self, ref: ImageRef) -> WholeImage:
        """What an image is made of. Raises OLMError."""

    async def read_referrers(self, name: ImageRef, subject: str) -> WholeImage:
        """What refers to the image of a digest; its list is called `name`. Raises OLMError."""

    def stream_blob(self, image: WholeImage, blob: Descriptor) -> AsyncIterator[bytes]:
        """The bytes of a blob. Raises OLMError."""


class Into(Protocol):
    """Where images go."""

    async def find(self, copy: Copy) -> bytes | None:
        """The manifest of an image that is named by digest and is there. Raises OLMError."""

    async def put_blob(self, copy: Copy, image: WholeImage, blob: Descriptor) -> bool:
        """Sees that a blob is there; whether its bytes were sent. Raises OLMError."""

    async def put_manifests(self, copy: Copy, image: WholeImage) -> None:
        """Names an image, all blobs of which are there. Raises OLMError."""


async def copy_all(
    copies: Sequence[Copy], source: From, target: Into, progress: Progress, *, at_once: int
) -> Mirrored:
    """Copies images, `at_once` blobs of them side by side; one that fails keeps no other back."""
    found = Mirrored()
    work = _Work(source, target, progress, found, asyncio.Semaphore(at_once))
    progress.images = len(copies)
    async with asyncio.TaskGroup() as group:
        for each in copies:
            group.create_task(work.copy(each))
    return found


@dataclass(slots=True)
class _Work:
    source: From
    target: Into
    progress: Progress
    found: Mirrored
    slots: asyncio.Semaphore
    _reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READ_AT_ONCE))
    _sending: dict[str, asyncio.Lock] = field(default_factory=dict)
    _counted: set[str] = field(default_factory=set)

    async def copy(self, copy: Copy) -> None:
        try:
            await self._copy(copy)
        except OLMError as error:
            self.found.failures[copy.source] = error
        except OSError as error:
            self.found.failures[copy.source] = of_system(error)
        self.progress.advance(done=1)

    async def _copy(self, copy: Copy) -> None:
        async with self._reading:
            there = await self.target.find(copy)
            if there is not None:
                self.found.digests[copy.source] = copy.source.digest
                self.found.parts[copy.source] = inner_digests(there)
                return
            image = await self._read(copy)
        new = [blob for blob in image.blobs if blob.digest not in self._counted]
        self._counted |= {blob.digest for blob in new}
        self.progress.advance(total=sum(blob.size for blob in new))
        await _all(self._blob(copy, image, blob, first=blob in new) for blob in image.blobs)
        await self.target.put_manifests(copy, image)
        self.found.digests[copy.source] = image.root.digest
        self.found.parts[copy.source] = tuple(part.digest for part, _ in image.manifests[:-1])
        self.found.copied.add(copy.source)

    async def _read(self, copy: Copy) -> WholeImage:
        if copy.subject:
            return await self.source.read_referrers(copy.source, copy.subject)
        return await self.source.read_whole(copy.source)

    async def _blob(self, copy: Copy, image: WholeImage, blob: Descriptor, *, first: bool) -> None:
        """One image at a time sends a blob; the others then find it."""
        async with self._sending.setdefault(blob.digest, asyncio.Lock()), self.slots:
            sent = await self.target.put_blob(copy, image, blob)
        if first or sent:
            size = blob.size if first else 0
            self.progress.advance(sent=size) if sent else self.progress.advance(passed=size)


async def _all(work: Iterable[Awaitable[None]]) -> None:
    """Waits for all, then raises the first error: what goes on would be cut off half-way."""
    for ended in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
