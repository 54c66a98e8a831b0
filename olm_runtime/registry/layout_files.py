"""Images in an OCI image layout on disk, as they are pushed. (Source: OCI image specification.)"""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

from olm_runtime.images.oci import INDEX_TYPES, Descriptor, ImageContentError, descriptors
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.client import CHUNK_BYTES, WholeImage


def blob_path(layout: Path, digest: str) -> Path:
    """Where an OCI image layout keeps a blob."""
    return layout / "blobs" / digest.replace(":", "/")


async def read_whole(layout: Path, root: Descriptor, ref: ImageRef) -> WholeImage:
    """What an image is made of that is called `ref`. Raises OSError, ImageContentError."""
    manifests: list[tuple[Descriptor, bytes]] = []
    blobs: dict[Descriptor, None] = {}

    def read(manifest: Descriptor) -> None:
        data = blob_path(layout, manifest.digest).read_bytes()
        parts = descriptors(data, manifest.media_type)
        if manifest.media_type in INDEX_TYPES:
            for part in parts:
                read(part)
        else:
            blobs.update(dict.fromkeys(parts))
        manifests.append((manifest, data))

    await asyncio.to_thread(read, root)
    return WholeImage(Source(ref), tuple(manifests), tuple(blobs))


async def stream_blob(layout: Path, blob: Descriptor) -> AsyncIterator[bytes]:
    """The bytes of a blob, read in threads. Raises OSError, ImageContentError for another size."""
    file = blob_path(layout, blob.digest)
    with await asyncio.to_thread(file.open, "rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        if size != blob.size:
            raise ImageContentError(
                f"{file} has {size} bytes, not {blob.size}", hint="delete it and fetch it again"
            )
        while chunk := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield chunk
