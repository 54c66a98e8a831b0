"""Where a mirror's images come from and go to: registries and folders."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import orjson

from olm_runtime.images.oci import INDEX_TYPES, OCI_INDEX, Descriptor, described, entries
from olm_runtime.images.reference import ImageRef
from olm_runtime.registry.client import RegistryClient, WholeImage
from olm_runtime.registry.layout_files import blob_path, read_whole, stream_blob
from olm_runtime.registry.push import RegistryPush
from olm_runtime.registry.settings import PullSettings
from olm_runtime.registry.workstation import Registries
from opm.io.layout import Layout
from opm.io.mirroring import Copy, From, Mirrored, Progress, copy_all

NAMED_AT_ONCE = 64
"""Each change writes the whole index; what is complete and not in it is only looked at again."""


@dataclass(slots=True)
class FromLayout:
    """Images in a folder, by the references that they were copied from."""

    layout: Layout

    async def read_whole(self, ref: ImageRef) -> WholeImage:
        """As `From` says."""
        return await read_whole(self.layout.root, self.layout.find(str(ref)), ref)

    async def read_referrers(self, name: ImageRef, subject: str) -> WholeImage:  # noqa: ARG002
        """As `From` says."""
        return await self.read_whole(name)

    def stream_blob(self, image: WholeImage, blob: Descriptor) -> AsyncIterator[bytes]:  # noqa: ARG002
        """As `From` says."""
        return stream_blob(self.layout.root, blob)


@dataclass(slots=True)
class IntoLayout:
    """A folder that carries images to where no network leads."""

    layout: Layout
    source: RegistryClient
    _complete: dict[str, Descriptor] = field(default_factory=dict)

    async def find(self, copy: Copy) -> bytes | None:
        """As `Into` says."""
        name = str(copy.source)
        if not copy.source.digest or not self.layout.has(name):
            return None
        file = blob_path(self.layout.root, self.layout.find(name).digest)
        return await asyncio.to_thread(file.read_bytes) if file.exists() else None

    async def put_blob(self, copy: Copy, image: WholeImage, blob: Descriptor) -> bool:  # noqa: ARG002
        """As `Into` says."""
        target = blob_path(self.layout.root, blob.digest)
        if await asyncio.to_thread(target.exists):
            return False
        await self.source.fetch_blob(image, blob, target)
        return True

    async def put_manifests(self, copy: Copy, image: WholeImage) -> None:
        """As `Into` says."""
        for manifest, data in image.manifests:
            target = blob_path(self.layout.root, manifest.digest)
            await asyncio.to_thread(target.write_bytes, data)
        self._complete[str(copy.source)] = image.root
        if len(self._complete) >= NAMED_AT_ONCE:
            self.name_complete()

    def name_complete(self) -> None:
        """Enters images that are complete into the index. Raises TerminalError."""
        complete, self._complete = self._complete, {}
        if complete:
            self.layout.name_all(complete)


@dataclass(slots=True)
class IntoRegistry:
    """A registry. A blob that one repository has got is linked from there into others."""

    registry: RegistryPush
    source: From
    _repositories: dict[str, str] = field(default_factory=dict)

    async def find(self, copy: Copy) -> bytes | None:
        """As `Into` says."""
        digest = copy.source.digest
        return (
            await self.registry.find_manifest(_target(copy).canonical(digest)) if digest else None
        )

    async def put_blob(self, copy: Copy, image: WholeImage, blob: Descriptor) -> bool:
        """As `Into` says."""
        target = _target(copy)
        sent = await self.registry.upload(
            target,
            blob,
            partial(self.source.stream_blob, image, blob),
            mount_from=self._repositories.get(blob.digest, ""),
        )
        self._repositories[blob.digest] = target.repository
        return sent

    async def put_manifests(self, copy: Copy, image: WholeImage) -> None:
        """As `Into` says. What a mirror's own people have signed stays in a list."""
        target = _target(copy)
        if copy.subject and image.root.media_type in INDEX_TYPES:
            image = with_entries_of(await self.registry.find_manifest(target), image)
        await self.registry.put_manifests(target, image)


def with_entries_of(there: bytes | None, image: WholeImage) -> WholeImage:
    """A list of referrers that keeps those of the list that is there. Raises ImageContentError."""
    if there is None:
        return image
    index = orjson.loads(image.manifests[-1][1])
    new = {each["digest"] for each in index["manifests"]}
    more = [each for each in entries(there) if each["digest"] not in new]
    if not more:
        return image
    data = orjson.dumps({**index, "manifests": [*index["manifests"], *more]})
    return replace(image, manifests=(*image.manifests[:-1], (described(data, OCI_INDEX), data)))


def _target(copy: Copy) -> ImageRef:
    if copy.target is None:
        raise ValueError(f"{copy.source} has no place in a registry")
    return copy.target


async def mirror_into_registry(
    copies: Sequence[Copy],
    layout: Path | None,
    access: Registries,
    progress: Progress,
    at_once: int,
) -> Mirrored:
    """From registries or a folder into a registry. Raises OLMError if nothing can be done."""
    targets = {_target(each).registry for each in copies}
    sources = {each.source.registry for each in copies}
    async with AsyncExitStack() as stack:
        pushing = RegistryPush(_settings(access, targets), jitter=random.random)
        registry = await stack.enter_async_context(pushing)
        source: From
        if layout is not None:
            source = FromLayout(Layout(layout))
        else:
            client = RegistryClient(_settings(access, sources), jitter=random.random)
            source = await stack.enter_async_context(client)
        into = IntoRegistry(registry, source)
        return await copy_all(copies, source, into, progress, at_once=at_once)


async def mirror_into_layout(
    copies: Sequence[Copy], layout: Path, access: Registries, progress: Progress, at_once: int
) -> Mirrored:
    """From registries into a folder. Raises OLMError if nothing can be done."""
    settings = _settings(access, {each.source.registry for each in copies})
    async with RegistryClient(settings, jitter=random.random) as client:
        into = IntoLayout(Layout(layout), client)
        try:
            return await copy_all(copies, client, into, progress, at_once=at_once)
        finally:
            into.name_complete()


def _settings(access: Registries, registries: Iterable[str]) -> PullSettings:
    return replace(access.settings_of(registries), bulk=True)


CATALOG_FILE = "mirror.json"


def write_contents(layout: Path, catalog: str, images: Sequence[str]) -> None:
    """Notes in a folder which of its images is the catalog, and which belong to it."""
    text = orjson.dumps({"catalog": catalog, "images": list(images)}, option=orjson.OPT_INDENT_2)
    (layout / CATALOG_FILE).write_bytes(text + b"\n")


def read_contents(layout: Path) -> tuple[str, list[str]]:
    """What `write_contents` noted. Raises OSError, ValueError, KeyError."""
    noted = orjson.loads((layout / CATALOG_FILE).read_bytes())
    return str(noted["catalog"]), [str(each) for each in noted["images"]]
