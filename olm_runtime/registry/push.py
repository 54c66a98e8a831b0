"""Pushes an image from an OCI image layout on disk to a registry.

What the registry has already is not sent again. Blobs stream from disk; each is sent before the
manifest that names it, and manifests before the index, so that a tag never names what is not
there. What a registry does not answer in time is tried again, from the question whether it has the
blob by now. (Source: OCI distribution specification, pushing.)
"""

from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Self
from urllib.parse import quote, urljoin

import httpx

from olm_runtime.images.oci import Descriptor
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call, once, read_bounded, refusal
from olm_runtime.registry.client import ACCEPTED, FETCH_SECONDS, WholeImage, within
from olm_runtime.registry.errors import RegistryError, UnauthorizedError
from olm_runtime.registry.http import registry_path, retrying
from olm_runtime.registry.layout_files import read_whole, stream_blob
from olm_runtime.registry.registries_file import read_registries
from olm_runtime.registry.settings import PullSettings, registry_http
from olm_runtime.registry.tokens import PUSH


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

        Raises RegistryError, RegistryBlockedError, RegistriesConfError, ImageContentError for a
        manifest that is none.
        """
        await within(FETCH_SECONDS, self._home(ref), lambda _: self._push(layout, image, ref))
        return ref.canonical(image.digest)

    async def _push(self, layout: Path, root: Descriptor, name: ImageRef) -> None:
        image = await read_whole(layout, root, name)
        for blob in image.blobs:
            await self.upload(name, blob, partial(stream_blob, layout, blob))
        await self.put_manifests(name, image)

    async def find_manifest(self, name: ImageRef) -> bytes | None:
        """What a reference names in the registry; None for nothing. Raises as `push`."""
        source = self._home(name)
        source.check()

        async def get() -> bytes | None:
            call = Call(headers={"Accept": ACCEPTED})
            path = registry_path(name, "manifest")
            async with self._http.exchange(source, path, call) as answer:
                if answer.status_code == 404:
                    return None
                if answer.status_code != 200:
                    raise await refusal(answer, name)
                limit = self._settings.limits.manifest_bytes
                return await read_bounded(answer, limit, f'manifest of "{name}"')

        return await retrying(get, self._jitter)

    async def put_manifests(self, name: ImageRef, image: WholeImage) -> None:
        """Names an image, all blobs of which are there. Raises as `push`."""
        *inner, own = image.manifests
        for each in inner:
            await self._put_manifest(name.canonical(each[0].digest), *each)
        await self._put_manifest(name, *own)

    async def _put_manifest(self, name: ImageRef, manifest: Descriptor, data: bytes) -> None:
        headers = {"Content-Type": manifest.media_type, "Content-Length": str(len(data))}
        call = Call(method="PUT", headers=headers, body=lambda: once(data))
        where = registry_path(name, "manifest")
        await retrying(lambda: self._expect(201, self._home(name), where, call), self._jitter)

    async def upload(
        self,
        name: ImageRef,
        blob: Descriptor,
        content: Callable[[], AsyncIterator[bytes]],
        *,
        mount_from: str = "",
    ) -> bool:
        """Puts a blob into a repository, unless it is there; whether its bytes were sent.

        `content` gives the bytes anew at each try. `mount_from` is a repository of the registry
        that has the blob: one that can link takes it from there. Raises as `push`.
        """

        async def upload() -> bool:
            begun = await self._link(name, blob, mount_from) if mount_from else None
            if begun is not None and begun.status_code == 201:
                return False
            return await self._send(name, blob, content, begun)

        return await retrying(upload, self._jitter)

    async def _link(
        self, name: ImageRef, blob: Descriptor, repository: str
    ) -> httpx.Response | None:
        """Asks to link a blob: 201 says that it is, 202 where to put it, None that we may not."""
        call = Call(method="POST", headers={"Content-Length": "0"}, link=repository)
        where = f"{registry_path(name, 'uploads')}?mount={blob.digest}&from={quote(repository)}"
        try:
            return await self._expect((201, 202), self._home(name), where, call)
        except UnauthorizedError:
            return None

    async def _send(
        self,
        name: ImageRef,
        blob: Descriptor,
        content: Callable[[], AsyncIterator[bytes]],
        begun: httpx.Response | None = None,
    ) -> bool:
        if await self._exists(name, registry_path(name, blob.digest)):
            return False
        source = self._home(name)
        if begun is None:
            begin = Call(method="POST", headers={"Content-Length": "0"})
            begun = await self._expect(202, source, registry_path(name, "uploads"), begin)
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size)}
        call = Call(method="PUT", headers=headers, body=content)
        await self._expect(201, source, _upload_address(source, begun, blob), call)
        return True

    def _home(self, name: ImageRef) -> Source:
        """Mirrors of registries.conf are for pulls: an image goes to its own registry."""
        home = self._registries.sources(name)[-1]
        insecure = home.insecure or name.registry in self._settings.insecure
        return Source(name, insecure, home.blocked)

    async def _exists(self, name: ImageRef, path: str) -> bool:
        source = self._home(name)
        source.check()
        call = Call(method="HEAD", headers={"Accept": ACCEPTED})
        async with self._http.exchange(source, path, call) as answer:
            if answer.status_code not in (200, 404):
                raise await refusal(answer, name)
            return answer.status_code == 200

    async def _expect(
        self, status: int | tuple[int, ...], source: Source, where: str, call: Call
    ) -> httpx.Response:
        """The answer, its body not read. Raises RegistryError unless it has the status."""
        expected = status if isinstance(status, tuple) else (status,)
        async with self._http.exchange(source, where, call) as answer:
            if answer.status_code not in expected:
                raise await refusal(answer, source.ref)
            return answer


def _upload_address(source: Source, begun: httpx.Response, blob: Descriptor) -> str:
    location = begun.headers.get("Location")
    if not location:
        ref = source.ref
        raise RegistryError(f'image "{ref}": registry {ref.registry} names no place for a blob')
    address = urljoin(str(begun.url), location)
    return f"{address}{'&' if '?' in address else '?'}digest={blob.digest}"
