"""Requests to registries: addresses, authorization, redirects. Content is checked elsewhere.

Guarantees: passwords and tokens go to the registry that they are for; every redirect is judged, and
none that leads to an authentication challenge is answered; every wait is bounded.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
import oras.defaults
from oras.container import Container

from olm_runtime.http.proxied import http_client
from olm_runtime.http.trust import shared_registry_trust
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.proxies import given_first, read_proxies
from olm_runtime.registry.calls import (
    MAX_ERROR_BYTES,
    Call,
    address_of,
    invalid_address,
    is_at,
    refusal,
)
from olm_runtime.registry.errors import RegistryError, UnreachableError, from_transport
from olm_runtime.registry.login_files import LoginFiles
from olm_runtime.registry.tokens import PULL, Authorizer

MAX_REDIRECTS = 5
TIMEOUT = httpx.Timeout(30.0, connect=10.0)
TRIES = 3
FIRST_PAUSE_SECONDS = 0.3
LONGEST_PAUSE_SECONDS = 10.0
"""A registry that asks for a longer one is left to the next reconcile."""

T = TypeVar("T")


class RegistryHttp:
    """Connections, tokens and what is known of hosts, for one pull or push."""

    def __init__(
        self,
        *,
        cas_dir: Path | None,
        logins: LoginFiles,
        plain_http: frozenset[str],
        cluster: ClusterSettings,
        actions: str = PULL,
        bulk: bool = False,
    ) -> None:
        """Proxies are those of the environment, else the `cluster`'s.

        Raises TransientError for proxies that are none; where a certificate is to be judged, each
        method does for unreadable CA files.
        """
        self._plain = plain_http
        self._connections = _Connections(cas_dir=cas_dir, cluster=cluster, bulk=bulk)
        self._authorizer = Authorizer(
            logins, plain_http=plain_http, actions=actions, send=self._connections.request
        )
        self._tokens: dict[str, str] = {}
        self._schemes: dict[str, str] = {}

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._connections.aclose()

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
        url = address_of(ref, where, origin)
        answer = await self._send(source, url, origin, call)
        try:
            if answer.status_code == 401:
                challenges = answer.headers.get_list("WWW-Authenticate")
                await _finish(answer)
                _check_who_asks(ref, str(answer.request.url), origin)
                self._tokens[ref.name] = await self._authorizer.authorize(
                    source, challenges, call.link
                )
                answer = await self._send(source, url, origin, call)
            if answer.status_code in (401, 403) and (cause := self._authorizer.withheld(ref)):
                raise cause
            yield answer
            await _finish(answer)
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
                answer = await self._connections.client(lax=True).get(
                    f"https://{_host(source.ref)}/v2/"
                )
                await answer.aclose()
                self._schemes[registry] = "https"
            except httpx.TransportError:
                self._schemes[registry] = "http"
        return self._schemes[registry]

    async def _send(self, source: Source, url: str, origin: str, call: Call) -> httpx.Response:
        """Follows redirects by hand: each is judged, and only the registry gets the token."""
        ref = source.ref
        for _ in range(MAX_REDIRECTS):
            headers = {**call.headers, "Accept-Encoding": "identity"}
            if ref.name in self._tokens and is_at(url, origin):
                headers["Authorization"] = self._tokens[ref.name]
            sent = Call(method=call.method, headers=headers, body=call.body)
            answer = await self._connections.request(ref, url, sent, lax=source.insecure)
            if not answer.has_redirect_location:
                return answer
            await _finish(answer)
            url = address_of(ref, answer.headers["Location"], url)
            if urlsplit(url).scheme not in ("https", urlsplit(origin).scheme):
                raise RegistryError(
                    f'image "{ref}": registry {ref.registry} redirects to an unsafe address'
                )
        raise RegistryError(f'image "{ref}": registry {ref.registry} redirects without end')


class _Connections:
    """Those of one pull or push, to registries that are judged and to those that are not.

    They know nothing of who asks: what refers to itself stays until cycles are looked for.
    """

    def __init__(self, *, cas_dir: Path | None, cluster: ClusterSettings, bulk: bool) -> None:
        """Raises TransientError for proxies that are none."""
        cluster_file = Path(cluster.ca_file) if cluster.ca_file else None
        self._trust = partial(shared_registry_trust, cas_dir, cluster_file)
        self._proxies = given_first(read_proxies(os.environ), cluster.proxies)
        self._bulk = bulk
        self._strict: httpx.AsyncClient | None = None
        self._lax: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        """Closes all."""
        for client in (self._strict, self._lax):
            if client is not None:
                await client.aclose()

    def client(self, *, lax: bool) -> httpx.AsyncClient:
        """Made when it is needed: to read the system's roots takes a fifth of a small pull."""
        if lax:
            self._lax = self._lax or self._new(_judging_nothing())
            return self._lax
        self._strict = self._strict or self._new(self._trust())
        return self._strict

    def _new(self, context: ssl.SSLContext) -> httpx.AsyncClient:
        """What is insecure is a registry; a proxy's certificate is always checked."""
        return http_client(
            TIMEOUT, origin=context, proxy=self._trust, proxies=self._proxies, bulk=self._bulk
        )

    async def request(self, ref: ImageRef, url: str, call: Call, *, lax: bool) -> httpx.Response:
        """The answer to one request, its body not yet read. Raises RegistryError."""
        client = self.client(lax=lax or not url.startswith("https:"))
        content = call.body() if call.body else None
        try:
            request = client.build_request(call.method, url, headers=call.headers, content=content)
            return await client.send(request, stream=True)
        except httpx.TransportError as error:
            raise from_transport(error, ref, urlsplit(url).netloc) from error
        except httpx.InvalidURL as error:
            raise invalid_address(ref) from error


def _judging_nothing() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def _finish(answer: httpx.Response) -> None:
    """Reads what is left of a small answer, so that its connection serves the next request."""
    length = answer.headers.get("Content-Length", "")
    bodiless = answer.request.method == "HEAD" or answer.status_code == httpx.codes.NO_CONTENT
    small = length.isascii() and length.isdigit() and int(length) <= MAX_ERROR_BYTES
    if not answer.is_stream_consumed and (bodiless or small):
        async for _ in answer.aiter_raw():
            pass
    await answer.aclose()


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
        except UnreachableError as error:
            if error.after > LONGEST_PAUSE_SECONDS:
                raise
            pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) * (0.5 + jitter())
            await asyncio.sleep(max(pause, error.after))
    return await operation()


def _check_who_asks(ref: ImageRef, asking: str, origin: str) -> None:
    """What a redirect leads to is not the registry. Raises RegistryError."""
    if not is_at(asking, origin):
        host = urlsplit(asking).netloc
        raise RegistryError(
            f'image "{ref}": registry {ref.registry} redirects to {host}, which asks for '
            "credentials",
            hint=f"name the image as {host} has it: credentials go to the registry that is named",
        )
