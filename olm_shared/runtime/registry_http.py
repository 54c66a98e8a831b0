"""The conversation with registries: addresses, authorization, redirects. Nothing is believed here.

Guarantees: credentials and tokens go to the host they are for, and to its own token server only;
every redirect is judged; every wait is bounded.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
import oras.defaults
import orjson
from oras.container import Container

from olm_shared.cluster_settings import ClusterSettings
from olm_shared.errors import TransientError
from olm_shared.image_ref import ImageRef
from olm_shared.oci import ImageContentError
from olm_shared.proxies import given_first, read_proxies
from olm_shared.registries_conf import Source
from olm_shared.registry_auth import Challenge, credential_for, host_of, may_send_credentials
from olm_shared.runtime.proxied import http_client
from olm_shared.runtime.pull_errors import (
    RegistryError,
    UnreachableError,
    from_answer,
    from_transport,
)
from olm_shared.runtime.trust import shared_registry_trust

MAX_REDIRECTS = 5
MAX_ERROR_BYTES = 4096
MAX_TOKEN_BYTES = 1 << 20
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
TRIES = 3
FIRST_PAUSE_SECONDS = 0.3
PULL, PUSH = "pull", "pull,push"
"""What a token is asked for."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request to a registry. `body` gives the content anew each time it is sent."""

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Callable[[], AsyncIterator[bytes]] | None = None


class RegistryHttp:
    """Connections, tokens and what is known of hosts, for one pull or push."""

    def __init__(
        self,
        *,
        cas_dir: Path | None,
        auth_files: Iterable[Path],
        plain_http: frozenset[str],
        cluster: ClusterSettings,
        actions: str = PULL,
    ) -> None:
        """The first of `auth_files` that knows the registry counts; they need not exist.

        Proxies are those of the environment, else the `cluster`'s.

        Raises TransientError for unreadable CA files, and for proxies that are none.
        """
        self._auth_files = tuple(auth_files)
        self._plain = plain_http
        self._actions = actions
        self._tokens: dict[str, str] = {}
        self._schemes: dict[str, str] = {}
        self._proxies = given_first(read_proxies(os.environ), cluster.proxies)
        cluster_file = Path(cluster.ca_file) if cluster.ca_file else None
        self._trust = shared_registry_trust(cas_dir, cluster_file)
        self._strict = self._connections(self._trust)
        self._lax: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._strict.aclose()
        if self._lax is not None:
            await self._lax.aclose()

    @asynccontextmanager
    async def open(self, source: Source, what: str, accept: str) -> AsyncIterator[httpx.Response]:
        """A successful answer, its body not yet read. `what` is "manifest" or a blob's digest.

        Raises RegistryError, TransientError.
        """
        call = Call(headers={"Accept": accept})
        async with self.exchange(source, registry_path(source.ref, what), call) as answer:
            if answer.status_code != 200:
                raise await refusal(answer, source.ref)
            yield answer

    @asynccontextmanager
    async def exchange(
        self, source: Source, where: str, call: Call
    ) -> AsyncIterator[httpx.Response]:
        """The answer to a request, whatever its status, its body not yet read.

        `where` is a path of the registry, or an address that it named. Raises as `open`.
        """
        ref = source.ref
        origin = f"{await self._scheme(source)}://{_host(ref)}"
        url = _address(ref, where, origin)
        answer = await self._send(source, url, origin, call)
        try:
            if answer.status_code == 401:
                challenge = _challenge(answer.headers.get("WWW-Authenticate", ""))
                await answer.aclose()
                self._tokens[ref.name] = await self._authorize(source, challenge)
                answer = await self._send(source, url, origin, call)
            yield answer
        except httpx.TransportError as error:
            raise from_transport(error, ref, ref.registry) from error
        finally:
            await answer.aclose()

    async def _scheme(self, source: Source) -> str:
        """HTTPS, unless plain HTTP is allowed and is what the registry speaks."""
        registry = source.ref.registry
        if registry in self._plain:
            return "http"
        if not source.insecure:
            return "https"
        if registry not in self._schemes:
            try:
                answer = await self._client(lax=True).get(f"https://{_host(source.ref)}/v2/")
                await answer.aclose()
                self._schemes[registry] = "https"
            except httpx.TransportError:
                self._schemes[registry] = "http"
        return self._schemes[registry]

    def _client(self, *, lax: bool) -> httpx.AsyncClient:
        if not lax:
            return self._strict
        if self._lax is None:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self._lax = self._connections(context)
        return self._lax

    def _connections(self, context: ssl.SSLContext) -> httpx.AsyncClient:
        """What is insecure is a registry; a proxy's certificate is always checked."""
        return http_client(TIMEOUT, origin=context, proxy=self._trust, proxies=self._proxies)

    async def _send(self, source: Source, url: str, origin: str, call: Call) -> httpx.Response:
        """Follows redirects by hand: each is judged, and only the registry gets the token."""
        ref, first = source.ref, urlsplit(origin)
        for _ in range(MAX_REDIRECTS):
            here = urlsplit(url)
            headers = {**call.headers, "Accept-Encoding": "identity"}
            if ref.name in self._tokens and here[:2] == first[:2]:
                headers["Authorization"] = self._tokens[ref.name]
            sent = Call(method=call.method, headers=headers, body=call.body)
            answer = await self._request(ref, url, sent, lax=source.insecure)
            if not answer.has_redirect_location:
                return answer
            await answer.aclose()
            url = _address(ref, answer.headers["Location"], url)
            if urlsplit(url).scheme not in ("https", first.scheme):
                raise RegistryError(
                    f'image "{ref}": registry {ref.registry} redirects to an unsafe address'
                )
        raise RegistryError(f'image "{ref}": registry {ref.registry} redirects without end')

    async def _request(self, ref: ImageRef, url: str, call: Call, *, lax: bool) -> httpx.Response:
        client = self._client(lax=lax)
        content = call.body() if call.body else None
        try:
            request = client.build_request(call.method, url, headers=call.headers, content=content)
            return await client.send(request, stream=True)
        except httpx.TransportError as error:
            raise from_transport(error, ref, urlsplit(url).netloc) from error
        except httpx.InvalidURL as error:
            raise RegistryError(
                f'image "{ref}": registry {ref.registry} sends an invalid address'
            ) from error

    async def _authorize(self, source: Source, challenge: Challenge) -> str:
        """The Authorization header that answers a challenge."""
        ref = source.ref
        credential = await asyncio.to_thread(self._credential, ref)
        if challenge.scheme == "basic" and credential:
            return f"Basic {credential}"
        if challenge.scheme != "bearer" or not challenge.realm:
            raise from_answer(401, ref, ref.registry)
        plain = await self._scheme(source) == "http"
        _address(ref, challenge.realm)
        if not may_send_credentials(challenge.realm, ref.registry, plain_http=plain):
            credential = ""
        return f"Bearer {await self._token(source, challenge, credential)}"

    async def _token(self, source: Source, challenge: Challenge, credential: str) -> str:
        ref, realm = source.ref, urlsplit(challenge.realm)
        scope = f"repository:{ref.repository}:{self._actions}" if ref.repository else ""
        params = {"service": challenge.service, "scope": scope}
        query = httpx.QueryParams({key: value for key, value in params.items() if value})
        headers = {"Authorization": f"Basic {credential}"} if credential else {}
        # What is insecure is this registry, not whatever host it names.
        lax = source.insecure and (realm.hostname or "").lower() == host_of(ref.registry)
        call = Call(headers=headers)
        answer = await self._request(ref, f"{challenge.realm}?{query}", call, lax=lax)
        try:
            if answer.status_code != 200:
                raise from_answer(401, ref, ref.registry, f"token server {realm.netloc} refuses")
            data = orjson.loads(await read_bounded(answer, MAX_TOKEN_BYTES, "token"))
            return _token(data.get("token") or data.get("access_token"))
        except (ValueError, AttributeError) as error:
            raise RegistryError(
                f'image "{ref}": token server {realm.netloc} sends no token'
            ) from error
        except httpx.TransportError as error:
            raise from_transport(error, ref, realm.netloc) from error
        finally:
            await answer.aclose()

    def _credential(self, ref: ImageRef) -> str:
        for file in self._auth_files:
            try:
                found = orjson.loads(file.read_bytes()).get("auths") if file.exists() else None
                credential = credential_for(found or {}, ref)
            except (OSError, ValueError, AttributeError) as error:
                message = f"cannot read registry credentials: {file}: {error}"
                raise TransientError(message) from error
            if credential:
                return credential
        return ""


def _host(ref: ImageRef) -> str:
    hub = ref.registry == oras.defaults.registry.index_name
    return str(oras.defaults.registry.default_v2_registry["host"]) if hub else ref.registry


def registry_path(ref: ImageRef, what: str) -> str:
    """The path of "manifest", "uploads" or a blob's digest of a repository."""
    container = Container(f"registry.invalid/{ref.repository}", registry="registry.invalid")
    container.registry, container.tag, container.digest = "", ref.tag, ref.digest
    paths = {"manifest": container.manifest_url, "uploads": container.upload_blob_url}
    path = paths[what]() if what in paths else container.get_blob_url(what)
    return str(path)


async def retrying(operation: Callable[[], Awaitable[T]], jitter: Callable[[], float]) -> T:
    """The operation's result; tried again after a pause while the registry does not answer."""
    for attempt in range(1, TRIES):
        try:
            return await operation()
        except UnreachableError:
            pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
            await asyncio.sleep(pause * (0.5 + jitter()))
    return await operation()


def _address(ref: ImageRef, where: str, base: str = "") -> str:
    """An address a registry names, as seen from `base`. Raises RegistryError if it is none."""
    try:
        address = urljoin(base, where)
        _ = urlsplit(address).port  # refuses numbers that are no port
    except ValueError as error:
        raise RegistryError(
            f'image "{ref}": registry {ref.registry} sends an invalid address'
        ) from error
    return address


def _token(value: object) -> str:
    """A text that can stand in a header. Raises ValueError."""
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        raise ValueError("no token")
    return value


def _challenge(header: str) -> Challenge:
    from oras.auth.utils import parse_auth_header

    found = parse_auth_header(header)
    return Challenge(
        header.partition(" ")[0].lower(),
        found.realm or "",
        found.service or "",
        found.scope or "",
    )


async def read_bounded(answer: httpx.Response, limit: int, what: str) -> bytes:
    """The body of an answer. Raises ImageContentError past `limit` bytes."""
    data = bytearray()
    async for chunk in answer.aiter_raw():
        data += chunk
        if len(data) > limit:
            raise ImageContentError(f"{what} is larger than {limit} bytes")
    return bytes(data)


async def refusal(answer: httpx.Response, ref: ImageRef) -> RegistryError:
    """The error for an answer that is no success; its body is read."""
    return from_answer(answer.status_code, ref, ref.registry, await _error_text(answer))


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
