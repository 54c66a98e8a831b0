"""Pushes an image from an OCI image layout on disk to a registry.

What the registry has already is not sent again. Blobs stream from disk; each is sent before the
manifest that names it, and manifests before the index, so that a tag never names what is not
there. What a registry does not answer in time is tried again, from the question whether it has the
blob by now. (Source: OCI distribution specification, pushing.)
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Self
from urllib.parse import urljoin

import httpx

from olm_runtime.images.oci import INDEX_TYPES, Descriptor, descriptors
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call, once, refusal
from olm_runtime.registry.client import CHUNK_BYTES, FETCH_SECONDS, within
from olm_runtime.registry.errors import RegistryError
from olm_runtime.registry.http import PUSH, registry_path, retrying
from olm_runtime.registry.registries_file import read_registries
from olm_runtime.registry.settings import PullSettings, registry_http


def blob_path(layout: Path, digest: str) -> Path:
    """Where an OCI image layout keeps a blob."""
    return layout / "blobs" / digest.replace(":", "/")


class RegistryPush:
    """Pushes to registries, over connections and with tokens of its own."""

    def __init__(self, settings: PullSettings, *, jitter: Callable[[], float]) -> None:
        """`jitter` gives numbers in [0, 1). Raises as RegistryClient."""
        self._settings = settings
        self._jitter = jitter
        self._registries = read_registries(settings.registries_conf)
        self._http = registry_http(settings, PUSH)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def push(self, layout: Path, image: Descriptor, ref: ImageRef) -> ImageRef:
        """Pushes a manifest or index with all it names under a tag; the canonical reference.

        Mirrors of registries.conf are for pulls: the image goes to the registry of `ref`.

        Raises RegistryError, RegistryBlockedError, RegistriesConfError, ImageContentError for a
        manifest that is none.
        """
        home = self._registries.sources(ref)[-1]
        insecure = home.insecure or ref.registry in self._settings.insecure
        source = Source(ref, insecure, home.blocked)
        await within(FETCH_SECONDS, source, lambda _: self._manifest(source, layout, image, ref))
        return ref.canonical(image.digest)

    async def _manifest(
        self, source: Source, layout: Path, manifest: Descriptor, name: ImageRef
    ) -> None:
        """Pushes under a name of its own; errors name the image."""
        data = await asyncio.to_thread(blob_path(layout, manifest.digest).read_bytes)
        for part in descriptors(data, manifest.media_type):
            if manifest.media_type in INDEX_TYPES:
                await self._manifest(source, layout, part, name.canonical(part.digest))
            else:
                await self._blob(source, layout, part)

        async def put() -> None:
            call = Call(
                method="PUT",
                headers={"Content-Type": manifest.media_type, "Content-Length": str(len(data))},
                body=lambda: once(data),
            )
            await self._expect(201, source, registry_path(name, "manifest"), call)

        await retrying(put, self._jitter)

    async def _blob(self, source: Source, layout: Path, blob: Descriptor) -> None:
        file = blob_path(layout, blob.digest)

        async def upload() -> None:
            if await self._has(source, blob):
                return
            begin = Call(method="POST", headers={"Content-Length": "0"})
            begun = await self._expect(202, source, registry_path(source.ref, "uploads"), begin)
            call = Call(
                method="PUT",
                headers={
                    "Content-Type": "application/octet-stream",
                    "Content-Length": str(blob.size),
                },
                body=lambda: _chunks(file),
            )
            await self._expect(201, source, _upload_address(source, begun, blob), call)

        await retrying(upload, self._jitter)

    async def _has(self, source: Source, blob: Descriptor) -> bool:
        path = registry_path(source.ref, blob.digest)
        async with self._http.exchange(source, path, Call(method="HEAD")) as answer:
            if answer.status_code not in (200, 404):
                raise await refusal(answer, source.ref)
            return answer.status_code == 200

    async def _expect(self, status: int, source: Source, where: str, call: Call) -> httpx.Response:
        """The answer, its body not read. Raises RegistryError unless it has the status."""
        async with self._http.exchange(source, where, call) as answer:
            if answer.status_code != status:
                raise await refusal(answer, source.ref)
            return answer


def _upload_address(source: Source, begun: httpx.Response, blob: Descriptor) -> str:
    location = begun.headers.get("Location")
    if not location:
        ref = source.ref
        raise RegistryError(f'image "{ref}": registry {ref.registry} names no place for a blob')
    address = urljoin(str(begun.url), location)
    return f"{address}{'&' if '?' in address else '?'}digest={blob.digest}"


async def _chunks(file: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(file.open, "rb") as opened:
        while chunk := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield chunk
