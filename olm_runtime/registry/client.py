"""Pulls images from registries: manifests, configurations and layers, each verified.

Endpoints and media types are oras's; the transport is httpx, because layers must stream to disk
under limits, redirects and token servers must be judged, and a hanging registry must cost no
thread.

Guarantees: nothing is used that does not match its digest and size; mirrors of registries.conf
are asked first and give the same image or none; every wait is bounded.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

import httpx
import oras.defaults

from olm_runtime.errors import bounded
from olm_runtime.images.limits import raise_hint
from olm_runtime.images.mirror_sets import with_mirrors
from olm_runtime.images.oci import (
    INDEX_TYPES,
    MANIFEST_TYPES,
    OCI_INDEX,
    Descriptor,
    ImageContentError,
    Manifest,
    described,
    descriptors,
    read_labels,
    read_manifest,
    sha256_digest,
    verify,
)
from olm_runtime.images.reference import ImageRef, digest_fault
from olm_runtime.images.registries_conf import RegistryBlockedError, Source
from olm_runtime.registry.calls import Call, read_bounded, refusal
from olm_runtime.registry.errors import ImageNotFoundError, RegistryError, UnreachableError
from olm_runtime.registry.http import registry_path, retrying
from olm_runtime.registry.referrers import list_referrers
from olm_runtime.registry.registries_file import read_registries
from olm_runtime.registry.settings import OnBytes, PullSettings, registry_http

CHUNK_BYTES = 256 << 10
RESOLVE_SECONDS = 120.0
FETCH_SECONDS = 1500.0
"""Of one source. A registry that sends a byte now and then never falls silent, but must end."""
ACCEPTED = ", ".join(
    dict.fromkeys((*MANIFEST_TYPES, *oras.defaults.default_manifest_accepted_media_types))
)
"""All that oras asks for by default, so that artifacts are recognised and named."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LayerFile:
    """A verified layer blob on disk."""

    path: Path
    descriptor: Descriptor


@dataclass(frozen=True, slots=True)
class FetchedImage:
    """An image's canonical reference, its labels, and its layers on disk, lowest first."""

    ref: ImageRef
    labels: Mapping[str, str]
    layers: tuple[LayerFile, ...]


@dataclass(frozen=True, slots=True)
class WholeImage:
    """An image as it is, for every platform: where it was found, and what it is made of.

    manifests  with their descriptors, each after those that it names; the last is the image's own
    blobs      configurations and layers, each once
    """

    source: Source
    manifests: tuple[tuple[Descriptor, bytes], ...]
    blobs: tuple[Descriptor, ...]

    @property
    def root(self) -> Descriptor:
        """What an index would say of the image."""
        return self.manifests[-1][0]


class RegistryClient:
    """Pulls from registries, over connections and with tokens of its own."""

    def __init__(self, settings: PullSettings, *, jitter: Callable[[], float]) -> None:
        """`jitter` gives numbers in [0, 1).

        Raises TransientError for unreadable CA files, RegistriesConfError.
        """
        self._platform = settings.platform
        self.limits = settings.limits
        self._jitter = jitter
        conf = read_registries(settings.registries_conf)
        self._registries = with_mirrors(conf, settings.cluster.mirrors)
        self._insecure = settings.insecure
        self._on_bytes = settings.on_bytes
        self._http = registry_http(settings)
        self._listless: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def resolve(self, ref: ImageRef) -> ImageRef:
        """The canonical reference: the tag's digest now; no request if there is a digest.

        Raises RegistryError, ImageContentError, RegistryBlockedError, RegistriesConfError.
        """
        if ref.is_canonical:
            return ref.canonical(ref.digest)

        return ref.canonical(await self._from_any(ref, self._digest, RESOLVE_SECONDS))

    async def fetch(self, ref: ImageRef, folder: Path) -> FetchedImage:
        """Downloads the layers of a digest into `folder`. Raises as `resolve`.

        A reference with its tag as well says that the image was named by tag.
        """
        return await self._from_any(
            ref, lambda source: self._fetch(ref, source, folder), FETCH_SECONDS
        )

    async def fetch_whole(self, ref: ImageRef, place: Callable[[str], Path]) -> Descriptor:
        """Downloads an image with all that it is made of, for every platform, as it is.

        `place` says where the blob of a digest goes; those that are there are not fetched. Gives
        what an index would say of the image. Raises as `resolve`.
        """

        async def fetch(source: Source) -> Descriptor:
            image = await self._whole(source)
            for blob in image.blobs:
                await self.fetch_blob(image, blob, place(blob.digest))
            for manifest, data in image.manifests:
                await asyncio.to_thread(place(manifest.digest).write_bytes, data)
            return image.root

        return await self._from_any(ref, fetch, FETCH_SECONDS)

    async def read_whole(self, ref: ImageRef) -> WholeImage:
        """What an image is made of, for every platform; no blob is fetched. Raises as `resolve`."""
        return await self._from_any(ref, self._whole, FETCH_SECONDS)

    async def read_referrers(self, name: ImageRef, subject: str) -> WholeImage:
        """What refers to the image with the digest `subject`, under an index that lists it.

        As its registry lists it; where that keeps no list, as the index called `name` does.
        Raises as `resolve`; ImageNotFoundError where nothing refers to it.
        """

        async def read(source: Source) -> WholeImage:
            of_subject = replace(source, ref=source.ref.canonical(subject))
            listed = await self._listed(of_subject)
            if listed is None:
                return await self._whole(source)
            image = await self._made_of(of_subject, listed, OCI_INDEX)
            if len(image.manifests) == 1:
                raise ImageNotFoundError(f'nothing refers to image "{of_subject.ref}"')
            return image

        return await self._from_any(name, read, FETCH_SECONDS)

    async def _listed(self, source: Source) -> bytes | None:
        """As `list_referrers`; a registry that has no lists is asked for one once."""
        registry = source.ref.registry
        if registry in self._listless:
            return None
        listed = await list_referrers(self._http, source, self._jitter)
        if listed is None:
            self._listless.add(registry)
        return listed

    async def fetch_blob(self, image: WholeImage, blob: Descriptor, target: Path) -> None:
        """Downloads a blob of an image, if it is not there. Raises as `resolve`."""
        await self._fetch_to(image.source, blob, target)

    async def stream_blob(self, image: WholeImage, blob: Descriptor) -> AsyncIterator[bytes]:
        """The bytes of a blob of an image, as they come. Raises as `resolve`.

        ImageContentError at the end if they were others than the digest says.
        """
        async for piece in self._verified(image.source, blob, None):
            yield piece

    async def _whole(self, source: Source) -> WholeImage:
        return await self._made_of(source, *await self._manifest(source))

    async def _made_of(self, source: Source, data: bytes, header: str) -> WholeImage:
        root = described(data, header)
        manifests, blobs = [(root, data)], []
        for part in descriptors(data, root.media_type):
            if root.media_type not in INDEX_TYPES:
                blobs.append(part)
                continue
            inner, header = await self._manifest(
                replace(source, ref=source.ref.canonical(part.digest))
            )
            manifest = described(inner, header)
            if manifest.media_type in INDEX_TYPES:
                raise _nested(source.ref)
            manifests.insert(-1, (manifest, inner))
            blobs += descriptors(inner, manifest.media_type)
        return WholeImage(source, tuple(manifests), tuple(dict.fromkeys(blobs)))

    async def _from_any(
        self, ref: ImageRef, ask: Callable[[Source], Awaitable[T]], seconds: float
    ) -> T:
        """What the first source gives that has it; the error is that of the last."""
        *mirrors, home = self._registries.sources(ref)
        if home.ref.registry in self._insecure:
            home = replace(home, insecure=True)
        failures: list[str] = []
        for mirror in mirrors:
            try:
                return await within(seconds, mirror, ask)
            except (RegistryError, ImageContentError, RegistryBlockedError) as error:
                failures.append(error.message)
        try:
            return await within(seconds, home, ask)
        except (RegistryError, ImageContentError, RegistryBlockedError) as error:
            if not failures:
                raise
            said = bounded("; ".join(failures), 600)
            message = f"{error.message} (mirrors failed too: {said})"
            raise type(error)(message, hint=error.hint, after=error.after) from error

    async def _fetch(self, ref: ImageRef, source: Source, folder: Path) -> FetchedImage:
        data, media_type = await self._manifest(source)
        canonical = ref.canonical(ref.digest or sha256_digest(data))
        found = read_manifest(data, media_type, self._platform, self.limits)
        if isinstance(found, Descriptor):
            chosen = Source(source.ref.canonical(found.digest), source.insecure)
            data, media_type = await self._manifest(chosen)
            found = read_manifest(data, media_type, self._platform, self.limits)
        if not isinstance(found, Manifest):
            raise _nested(ref)
        came = _Arriving(str(ref), found, self._on_bytes)
        config = await self._blob(source, found.config, folder, came)
        labels = read_labels(await asyncio.to_thread(config.path.read_bytes))
        layers = [await self._blob(source, layer, folder, came) for layer in found.layers]
        return FetchedImage(canonical, labels, tuple(layers))

    async def _digest(self, source: Source) -> str:
        """What a tag names now. HEAD, because registries count what is pulled, not what is asked.

        The manifest itself where the registry does not say, or to learn why it refuses.
        """
        call = Call(method="HEAD", headers={"Accept": ACCEPTED})

        async def head() -> str:
            path = registry_path(source.ref, "manifest")
            async with self._http.exchange(source, path, call) as answer:
                if answer.status_code == 429 or answer.status_code >= 500:
                    raise await refusal(answer, source.ref)
                said = answer.headers.get("Docker-Content-Digest", "")
                known = answer.status_code == 200 and not digest_fault(said)
                return str(said) if known else ""

        known = await retrying(head, self._jitter)
        return known or sha256_digest((await self._manifest(source))[0])

    async def _manifest(self, source: Source) -> tuple[bytes, str]:
        ref = source.ref

        async def get() -> tuple[bytes, str]:
            async with self._http.open(source, "manifest", ACCEPTED) as answer:
                data = await self._bounded_manifest(answer, ref)
                return data, answer.headers.get("Content-Type", "")

        data, media_type = await retrying(get, self._jitter)
        if ref.digest:
            verify(data, ref.digest, f'manifest of "{ref}"')
        return data, media_type

    async def _bounded_manifest(self, answer: httpx.Response, ref: ImageRef) -> bytes:
        limit = self.limits.manifest_bytes
        try:
            return await read_bounded(answer, limit, f'manifest of "{ref}"')
        except ImageContentError as error:
            raise ImageContentError(error.message, hint=raise_hint("manifest_bytes")) from error

    async def _blob(
        self, source: Source, blob: Descriptor, folder: Path, came: "_Arriving"
    ) -> LayerFile:
        target = folder / blob.digest.replace(":", "-")
        await self._fetch_to(source, blob, target, came)
        return LayerFile(target, blob)

    async def _fetch_to(
        self, source: Source, blob: Descriptor, target: Path, came: "_Arriving | None" = None
    ) -> None:
        if not await asyncio.to_thread(target.exists):
            await retrying(lambda: self._download(source, blob, target, came), self._jitter)

    async def _download(
        self, source: Source, blob: Descriptor, target: Path, came: "_Arriving | None"
    ) -> None:
        part = target.with_suffix(".part")
        size = 0
        try:
            with await asyncio.to_thread(part.open, "wb") as file:
                async for chunk in self._verified(source, blob, CHUNK_BYTES):
                    await asyncio.to_thread(file.write, chunk)
                    size += len(chunk)
                    if came is not None:
                        came.note(blob, size)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        part.rename(target)

    async def _verified(
        self, source: Source, blob: Descriptor, pieces: int | None
    ) -> AsyncIterator[bytes]:
        """The bytes in pieces of a size, or as they come."""
        algorithm, _, expected = blob.digest.partition(":")
        summing, size = hashlib.new(algorithm), 0
        async with self._http.open(source, blob.digest, "*/*") as answer:
            async for chunk in answer.aiter_raw(pieces):
                size += len(chunk)
                if size > blob.size:
                    break
                summing.update(chunk)
                yield chunk
        if size != blob.size or summing.hexdigest() != expected:
            raise ImageContentError(
                f'image "{source.ref}": blob {blob.digest} is corrupt: its size or digest is wrong'
            )


class _Arriving:
    """Counts what comes of an image; a blob that is asked for again counts anew."""

    def __init__(self, image: str, manifest: Manifest, on_bytes: OnBytes | None) -> None:
        self._image = image
        self._total = sum(blob.size for blob in (manifest.config, *manifest.layers))
        self._on_bytes = on_bytes
        self._sizes: dict[str, int] = {}

    def note(self, blob: Descriptor, size: int) -> None:
        if self._on_bytes is not None:
            self._sizes[blob.digest] = size
            self._on_bytes(self._image, sum(self._sizes.values()), self._total)


async def within(seconds: float, source: Source, ask: Callable[[Source], Awaitable[T]]) -> T:
    """What `ask` gives. Raises UnreachableError when it takes longer, RegistryBlockedError."""
    source.check()
    try:
        async with asyncio.timeout(seconds):
            return await ask(source)
    except TimeoutError as error:
        ref = source.ref
        raise UnreachableError(
            f'image "{ref}": registry {ref.registry} took longer than {seconds:.0f} s',
            hint="check the network between here and there",
        ) from error


def _nested(ref: ImageRef) -> ImageContentError:
    return ImageContentError(f'image "{ref}": an index inside an index is not supported')
