"""Pulls images from registries: manifests, configurations and layers, each verified.

Endpoints, media types and docker configuration files are oras's; the transport is httpx, because
layers must stream to disk under limits, redirects and token servers must be judged, and a hanging
registry must cost no thread.

Guarantees: nothing is believed that does not match its digest and size; credentials are sent to
the registry they are for and to its own token server only; every wait is bounded.
"""

import asyncio
import hashlib
import platform as machine
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
import oras.defaults
import orjson
from oras.container import Container

from olm_shared.errors import TransientError
from olm_shared.image_ref import ImageRef
from olm_shared.oci import (
    MANIFEST_TYPES,
    MAX_MANIFEST_BYTES,
    Descriptor,
    ImageContentError,
    Manifest,
    Platform,
    read_labels,
    read_manifest,
    sha256_digest,
    verify,
)
from olm_shared.registry_auth import Challenge, credential_for, may_send_credentials
from olm_shared.runtime.pull_errors import (
    RegistryError,
    UnreachableError,
    from_answer,
    from_transport,
)
from olm_shared.runtime.trust import registry_trust

TRIES = 3
FIRST_PAUSE_SECONDS = 0.3
MAX_REDIRECTS = 5
MAX_ERROR_BYTES = 4096
MAX_TOKEN_BYTES = 1 << 20
CHUNK_BYTES = 256 << 10
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}

T = TypeVar("T")


def this_platform() -> Platform:
    """Linux on this machine's processor: what a cluster's images are made for."""
    return Platform("linux", ARCHITECTURES.get(machine.machine(), machine.machine()))


@dataclass(frozen=True, slots=True)
class PullSettings:
    """How to reach registries.

    `plain_http` holds the registries, as they stand in references, that are spoken to without
    TLS. `auth_file` is a docker configuration file; it may be absent.
    """

    cas_dir: Path | None = None
    auth_file: Path | None = None
    plain_http: frozenset[str] = frozenset()
    platform: Platform = field(default_factory=this_platform)


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


class RegistryClient:
    """One pull's conversation with a registry: connections and tokens live as long as it does."""

    def __init__(self, settings: PullSettings, *, jitter: Callable[[], float]) -> None:
        """`jitter` gives numbers in [0, 1). Raises TransientError for unreadable CA files."""
        self._settings = settings
        self._jitter = jitter
        self._tokens: dict[str, str] = {}
        self._http = httpx.AsyncClient(verify=registry_trust(settings.cas_dir), timeout=TIMEOUT)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def resolve(self, ref: ImageRef) -> ImageRef:
        """The canonical reference: the tag's digest now; no request if there is a digest.

        Raises RegistryError, ImageContentError.
        """
        if ref.is_canonical:
            return ref.canonical(ref.digest)
        data, _ = await self._manifest(ref)
        return ref.canonical(sha256_digest(data))

    async def fetch(self, ref: ImageRef, folder: Path) -> FetchedImage:
        """Downloads an image's layers into `folder`. Raises RegistryError, ImageContentError."""
        data, media_type = await self._manifest(ref)
        canonical = ref.canonical(ref.digest or sha256_digest(data))
        found = read_manifest(data, media_type, self._settings.platform)
        if isinstance(found, Descriptor):
            chosen = ref.canonical(found.digest)
            data, media_type = await self._manifest(chosen)
            found = read_manifest(data, media_type, self._settings.platform)
        if not isinstance(found, Manifest):
            raise ImageContentError(f'image "{ref}": an index inside an index is not supported')
        config = await self._blob(canonical, found.config, folder)
        labels = read_labels(await asyncio.to_thread(config.path.read_bytes))
        layers = [await self._blob(canonical, layer, folder) for layer in found.layers]
        return FetchedImage(canonical, labels, tuple(layers))

    async def _manifest(self, ref: ImageRef) -> tuple[bytes, str]:
        url = self._url(ref, "manifest")
        accept = ", ".join((*MANIFEST_TYPES, *_oras_types()))

        async def get() -> tuple[bytes, str]:
            async with self._open(ref, url, accept) as answer:
                data = await _read_bounded(answer, MAX_MANIFEST_BYTES, f'manifest of "{ref}"')
                return data, answer.headers.get("Content-Type", "")

        data, media_type = await self._retrying(get)
        if ref.digest:
            verify(data, ref.digest, f'manifest of "{ref}"')
        return data, media_type

    async def _blob(self, ref: ImageRef, blob: Descriptor, folder: Path) -> LayerFile:
        target = folder / blob.digest.replace(":", "-")
        if not target.exists():
            await self._retrying(lambda: self._download(ref, blob, target))
        return LayerFile(target, blob)

    async def _download(self, ref: ImageRef, blob: Descriptor, target: Path) -> None:
        algorithm, _, expected = blob.digest.partition(":")
        summing, size = hashlib.new(algorithm), 0
        part = target.with_suffix(".part")
        async with self._open(ref, self._url(ref, blob.digest), "*/*") as answer:
            with await asyncio.to_thread(part.open, "wb") as file:
                async for chunk in answer.aiter_raw(CHUNK_BYTES):
                    size += len(chunk)
                    if size > blob.size:
                        break
                    summing.update(chunk)
                    await asyncio.to_thread(file.write, chunk)
        if size != blob.size or summing.hexdigest() != expected:
            part.unlink()
            raise ImageContentError(
                f'image "{ref}": blob {blob.digest} is corrupt: its size or digest is wrong'
            )
        part.rename(target)

    async def _retrying(self, operation: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, TRIES):
            try:
                return await operation()
            except UnreachableError:
                pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
                await asyncio.sleep(pause * (0.5 + self._jitter()))
        return await operation()

    def _url(self, ref: ImageRef, what: str) -> str:
        """The address of a manifest (`what` is "manifest") or of a blob (its digest)."""
        hub = ref.registry == oras.defaults.registry.index_name
        host = oras.defaults.registry.default_v2_registry["host"] if hub else ref.registry
        container = Container(f"registry.invalid/{ref.repository}", registry=host)
        container.registry, container.tag, container.digest = host, ref.tag, ref.digest
        scheme = "http" if ref.registry in self._settings.plain_http else "https"
        path = container.manifest_url() if what == "manifest" else container.get_blob_url(what)
        return f"{scheme}://{path}"

    @asynccontextmanager
    async def _open(self, ref: ImageRef, url: str, accept: str) -> AsyncIterator[httpx.Response]:
        """A successful answer, its body not yet read."""
        answer = await self._send(ref, url, accept)
        try:
            if answer.status_code == 401:
                challenge = _challenge(answer.headers.get("WWW-Authenticate", ""))
                await answer.aclose()
                self._tokens[ref.name] = await self._authorize(ref, challenge)
                answer = await self._send(ref, url, accept)
            if answer.status_code != 200:
                text = await _error_text(answer)
                raise from_answer(answer.status_code, ref, ref.registry, text)
            yield answer
        except httpx.TransportError as error:
            raise from_transport(error, ref, ref.registry) from error
        finally:
            await answer.aclose()

    async def _send(self, ref: ImageRef, url: str, accept: str) -> httpx.Response:
        """Follows redirects by hand: each is judged, and only the first host gets the token."""
        first = urlsplit(url)
        for _ in range(MAX_REDIRECTS):
            here = urlsplit(url)
            headers = {"Accept": accept, "Accept-Encoding": "identity"}
            if ref.name in self._tokens and here[:2] == first[:2]:
                headers["Authorization"] = self._tokens[ref.name]
            answer = await self._request(ref, url, headers)
            if not answer.has_redirect_location:
                return answer
            await answer.aclose()
            url = urljoin(url, answer.headers["Location"])
            if urlsplit(url).scheme not in ("https", first.scheme):
                raise RegistryError(
                    f'image "{ref}": registry {ref.registry} redirects to an unsafe address'
                )
        raise RegistryError(f'image "{ref}": registry {ref.registry} redirects without end')

    async def _request(self, ref: ImageRef, url: str, headers: Mapping[str, str]) -> httpx.Response:
        try:
            request = self._http.build_request("GET", url, headers=headers)
            return await self._http.send(request, stream=True)
        except httpx.TransportError as error:
            raise from_transport(error, ref, urlsplit(url).netloc) from error
        except httpx.InvalidURL as error:
            raise RegistryError(f'image "{ref}": registry sends an invalid address') from error

    async def _authorize(self, ref: ImageRef, challenge: Challenge) -> str:
        """The Authorization header that answers a challenge."""
        credential = await asyncio.to_thread(self._credential, ref)
        if challenge.scheme == "basic" and credential:
            return f"Basic {credential}"
        if challenge.scheme != "bearer" or not challenge.realm:
            raise from_answer(401, ref, ref.registry)
        plain = ref.registry in self._settings.plain_http
        if not may_send_credentials(challenge.realm, ref.registry, plain_http=plain):
            credential = ""
        return f"Bearer {await self._token(ref, challenge, credential)}"

    async def _token(self, ref: ImageRef, challenge: Challenge, credential: str) -> str:
        host = urlsplit(challenge.realm).netloc
        params = {"service": challenge.service, "scope": f"repository:{ref.repository}:pull"}
        query = httpx.QueryParams({key: value for key, value in params.items() if value})
        headers = {"Authorization": f"Basic {credential}"} if credential else {}
        answer = await self._request(ref, f"{challenge.realm}?{query}", headers)
        try:
            if answer.status_code != 200:
                raise from_answer(401, ref, ref.registry, f"token server {host} refuses")
            data = orjson.loads(await _read_bounded(answer, MAX_TOKEN_BYTES, "token"))
            token = data.get("token") or data.get("access_token")
        except (orjson.JSONDecodeError, AttributeError) as error:
            raise RegistryError(f'image "{ref}": token server {host} sends no token') from error
        except httpx.TransportError as error:
            raise from_transport(error, ref, host) from error
        finally:
            await answer.aclose()
        return str(token)

    def _credential(self, ref: ImageRef) -> str:
        # Imported when first needed: most catalogs are public, and this brings requests along.
        from oras.auth.utils import load_configs

        file = self._settings.auth_file
        try:
            found = load_configs([str(file)] if file and file.exists() else [])
        except (OSError, ValueError) as error:
            raise TransientError(f"cannot read registry credentials: {error}") from error
        return credential_for(found["auths"], ref)


def _oras_types() -> tuple[str, ...]:
    """What else oras asks for by default, so that artifacts are recognised and named."""
    known = oras.defaults.default_manifest_accepted_media_types
    return tuple(kind for kind in known if kind not in MANIFEST_TYPES)


def _challenge(header: str) -> Challenge:
    from oras.auth.utils import parse_auth_header

    found = parse_auth_header(header)
    return Challenge(
        header.partition(" ")[0].lower(),
        found.realm or "",
        found.service or "",
        found.scope or "",
    )


async def _read_bounded(answer: httpx.Response, limit: int, what: str) -> bytes:
    data = bytearray()
    async for chunk in answer.aiter_raw():
        data += chunk
        if len(data) > limit:
            raise ImageContentError(f"{what} is larger than {limit} bytes")
    return bytes(data)


async def _error_text(answer: httpx.Response) -> str:
    """The first message of an OCI error body, if that is what it is."""
    data = bytearray()
    async for chunk in answer.aiter_raw():
        data += chunk
        if len(data) > MAX_ERROR_BYTES:
            return ""
    try:
        return str(orjson.loads(data)["errors"][0]["message"])
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        return ""
