"""What a release image says of itself, without fetching the whole of it.

The newest layer is looked at first: it is where the metadata is, and layers below may be large.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from cluster_version.payload.release import METADATA_FILE, ReleaseError, read_metadata
from cluster_version.payload.release_folders import RELEASE_FOLDER
from olm_runtime.images.layers import Rules
from olm_runtime.images.oci import (
    INDEX_TYPES,
    Descriptor,
    ImageContentError,
    Manifest,
    read_manifest,
    read_platform,
    read_platforms,
)
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.client import (
    FETCH_SECONDS,
    LayerFile,
    RegistryClient,
    WholeImage,
    within,
)
from olm_runtime.registry.settings import this_platform
from olm_runtime.registry.unpack import unpack

METADATA = f"{RELEASE_FOLDER}/{METADATA_FILE}"
MAX_METADATA_BYTES = 4 << 20
UNKNOWN = ("", "unknown")
"""Architectures of what an index has next to images: attestations."""


@dataclass(frozen=True, slots=True)
class Found:
    """An image's architectures, and its `release-metadata`; None for what is no release."""

    architectures: tuple[str, ...]
    metadata: Mapping[str, Any] | None


async def read_release(client: RegistryClient, ref: ImageRef, folder: Path) -> Found:
    """What the image of a digest says; `folder` is for what is fetched of it.

    Raises RegistryError, ImageContentError, LayerError.
    """
    return await within(FETCH_SECONDS, Source(ref), lambda _: _read(client, ref, folder))


async def _read(client: RegistryClient, ref: ImageRef, folder: Path) -> Found:
    image = await client.read_whole(ref)
    (descriptor, data), architectures = _chosen(image)
    manifest = read_manifest(data, descriptor.media_type, this_platform(), client.limits)
    if not isinstance(manifest, Manifest):
        raise ImageContentError(f'image "{ref}": an index inside an index is not supported')
    if not architectures:
        config = folder / "config"
        await client.fetch_blob(image, manifest.config, config)
        architectures = (read_platform(await asyncio.to_thread(config.read_bytes)).architecture,)
    return Found(architectures, await _metadata(client, image, manifest, folder))


def _chosen(image: WholeImage) -> tuple[tuple[Descriptor, bytes], tuple[str, ...]]:
    """The manifest to look at, and the architectures, none where it is the only manifest."""
    *parts, (root, data) = image.manifests
    if root.media_type not in INDEX_TYPES:
        return (root, data), ()
    names = [platform.architecture for platform in read_platforms(data)]
    found = [pair for pair in zip(parts, names, strict=True) if pair[1] not in UNKNOWN]
    if not found:
        raise ImageContentError(f'image "{image.source.ref}" is for no architecture')
    return found[0][0], tuple(dict.fromkeys(name for _, name in found))


async def _metadata(
    client: RegistryClient, image: WholeImage, manifest: Manifest, folder: Path
) -> Mapping[str, Any] | None:
    limits = client.limits._replace(file_bytes=MAX_METADATA_BYTES)
    rules = Rules(roots=(METADATA,), limits=limits)
    for number, layer in enumerate(reversed(manifest.layers)):
        blob, files = folder / f"layer-{number}", folder / f"files-{number}"
        await client.fetch_blob(image, layer, blob)
        content = await asyncio.to_thread(_content, LayerFile(blob, layer), files, rules)
        if content is not None:
            return _document(image.source.ref, content)
    return None


def _content(layer: LayerFile, into: Path, rules: Rules) -> bytes | None:
    into.mkdir()
    unpack([layer], into, rules)
    layer.path.unlink()
    file = into / METADATA
    return file.read_bytes() if file.is_file() else None


def _document(ref: ImageRef, content: bytes) -> Mapping[str, Any]:
    try:
        read_metadata(content)
    except ReleaseError as error:
        raise ImageContentError(f'image "{ref}": {METADATA}: {error.message}') from error
    document: Mapping[str, Any] = orjson.loads(content)
    return document
