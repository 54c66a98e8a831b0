"""Asks a catalogd for the blobs of one package, and keeps of them what choosing a bundle needs.

Answers are read as a stream, a line at a time, so that a package with megabytes of metadata and a
whole catalog (`/all`, where `/metas` is off) cost no more memory than what is cached.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson

from olm_content.fbc.needed import needed
from olm_runtime import tracing
from olm_runtime.errors import bounded
from olm_runtime.http.proxied import http_client
from olm_runtime.http.tls import TlsProfile
from olm_runtime.http.transport_faults import reason
from olm_runtime.http.trust import registry_trust, shared_registry_trust, trust_state
from operator_controller.io.catalog_addresses import (
    Address,
    Blobs,
    CatalogBehindError,
    CatalogUnavailableError,
    server_of,
)
from operator_controller.io.replicas import ReplicaBehindError, answer_of

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
ANSWER_SECONDS = 300.0
"""For a whole answer, as upstream's client."""
MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_PACKAGE_BYTES = 64 * 1024 * 1024
"""Of one package; the largest real ones keep a hundredth of it."""

MAX_BODY_SHOWN = 200
"""Characters of the text of an error answer."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Session:
    """Connections that trust the CAs of one moment; closed after their last request."""

    http: httpx.AsyncClient
    trusted: object
    users: int = 0
    replaced: bool = False


class Catalogd:
    """Requests to whichever catalogd serves a catalog.

    Proxies are taken from the environment (HTTPS_PROXY, NO_PROXY). The folder of CAs is looked at
    before each request, so that a rotated CA needs no restart.
    """

    def __init__(
        self, cas_dir: Path | None, profile: TlsProfile | None = None, *, allow_http: bool = False
    ) -> None:
        """`profile` bounds TLS versions, suites and curves; `allow_http` is to do without TLS."""
        self._cas_dir = cas_dir
        self._allow_http = allow_http
        self._servers: dict[str, str] = {}
        self._profile = profile
        self._session: _Session | None = None

    async def close(self) -> None:
        """Closes the connections."""
        if self._session is not None:
            await self._session.http.aclose()

    async def package(self, address: Address, package: str, *, etag: str = "") -> Blobs | None:
        """The blobs of a package; None if they are those of `etag`.

        Raises CatalogUnavailableError, naming the catalog and the cause.
        """
        self.check(address)
        asked = {"olm.catalog": address.catalog, "olm.package": package}
        with tracing.span("ask catalog", asked):
            async with self._client() as http:
                return await fetch(http, address, package, etag=etag)

    def check(self, address: Address) -> None:
        """Refuses an address that is not to be asked, and logs whom one names that is.

        Raises CatalogUnavailableError.
        """
        name = address.catalog
        server = server_of(name, address.base, allow_http=self._allow_http)
        before = self._servers.get(name, server)
        if before != server:
            log.warning('catalog "%s" is read from %s, until now %s', name, server, before)
        elif name not in self._servers:
            log.info('catalog "%s" is read from %s', name, server)
        self._servers[name] = server

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[httpx.AsyncClient]:
        before, session = self._session, self._current()
        session.users += 1
        try:
            # Whoever still asks closes the replaced one; one that nobody asks is closed here.
            if before is not None and before.replaced and not before.users:
                await before.http.aclose()
            yield session.http
        finally:
            session.users -= 1
            if session.replaced and not session.users:
                await session.http.aclose()

    def _current(self) -> _Session:
        """The session for the CAs that are in the folder now."""
        trusted = trust_state(self._cas_dir)
        old = self._session
        if old is not None and old.trusted == trusted:
            return old
        self._session = _Session(_connections(self._trust()), trusted)
        if old is not None:
            old.replaced = True
        return self._session

    def _trust(self) -> ssl.SSLContext:
        if self._profile is None:
            return shared_registry_trust(self._cas_dir)
        own = registry_trust(self._cas_dir)
        self._profile.apply(own)
        return own


def _connections(tls: ssl.SSLContext) -> httpx.AsyncClient:
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    return http_client(timeout, origin=tls, bulk=True)


async def fetch(
    http: httpx.AsyncClient, address: Address, package: str, *, etag: str = ""
) -> Blobs | None:
    """The blobs of a package over given connections; None if they are those of `etag`.

    Raises CatalogUnavailableError, naming the catalog and the cause.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await _ask(http, address, package, etag)
    except ReplicaBehindError as error:
        message = _unread(address, error.message)
        raise CatalogBehindError(message, hint=error.hint, within=error.within) from error
    except httpx.HTTPError as error:
        raise _unreachable(address, reason(error)) from error
    except TimeoutError as error:
        raise _unreachable(address, f"no end within {ANSWER_SECONDS:.0f} s") from error


async def _ask(http: httpx.AsyncClient, address: Address, package: str, etag: str) -> Blobs | None:
    headers = tracing.headers() | ({"If-None-Match": etag} if etag else {})
    query = {"package": package}
    url = f"{address.base}/api/v1/metas"
    async with answer_of(http, url, address.source, params=query, headers=headers) as response:
        if response.status_code != httpx.codes.NOT_FOUND:
            return await _answer(response, address, package)
        if "page not found" not in response.text:
            raise await _unexpected(address, response)
    # Upstream's catalogd knows no /metas path while the gate is off: the whole catalog is left.
    url = f"{address.base}/api/v1/all"
    async with answer_of(http, url, address.source, headers=headers) as response:
        return await _answer(response, address, package)


async def _answer(response: httpx.Response, address: Address, package: str) -> Blobs | None:
    if response.status_code == httpx.codes.NOT_MODIFIED:
        return None
    if response.status_code != httpx.codes.OK:
        raise await _unexpected(address, response)
    lines: list[bytes] = []
    size = 0
    async for line in _lines(response, address):
        if package.encode() not in line:
            continue
        blob = needed(_decoded(line, address), package)
        if blob is None:
            continue
        lines.append(orjson.dumps(blob))
        size += len(lines[-1])
        if size > MAX_PACKAGE_BYTES:
            raise _refused(address, f"a package of more than {MAX_PACKAGE_BYTES} bytes is not read")
    return Blobs(tuple(lines), response.headers.get("etag", ""))


async def _lines(response: httpx.Response, address: Address) -> AsyncIterator[bytes]:
    """The lines of the answer that are not empty, whatever the pieces they arrive in."""
    pending: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        first, *rest = chunk.split(b"\n")
        pending.append(first)
        size += len(first)
        if size > MAX_LINE_BYTES:
            raise _refused(address, f"a blob of more than {MAX_LINE_BYTES} bytes is not read")
        if rest:
            *whole, last = [b"".join(pending), *rest]
            pending, size = [last], len(last)
            for line in filter(bytes.strip, whole):
                yield line
    if (line := b"".join(pending)).strip():
        yield line


def _decoded(line: bytes, address: Address) -> dict[str, Any]:
    try:
        blob = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _refused(address, f"it sent a line that is no JSON: {error}") from error
    if not isinstance(blob, dict):
        raise _refused(address, "it sent a line that is no JSON object")
    return blob


def _unreachable(address: Address, cause: str) -> CatalogUnavailableError:
    return CatalogUnavailableError(
        _unread(address, cause),
        hint="check that catalogd runs and that its certificate is trusted (--catalogd-cas-dir)",
    )


async def _unexpected(address: Address, response: httpx.Response) -> CatalogUnavailableError:
    body = ""
    async for piece in response.aiter_text(MAX_BODY_SHOWN):
        body = bounded(" ".join(piece.split()), MAX_BODY_SHOWN)
        break
    return CatalogUnavailableError(
        f'catalog "{address.catalog}": received unexpected response status code '
        f"{response.status_code} from {address.base}" + (f": {body}" if body else "")
    )


def _refused(address: Address, cause: str) -> CatalogUnavailableError:
    return CatalogUnavailableError(_unread(address, cause))


def _unread(address: Address, cause: str) -> str:
    return f'catalog "{address.catalog}" cannot be read from {address.base}: {cause}'
