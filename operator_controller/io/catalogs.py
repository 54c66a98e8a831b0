"""Asks catalogd for one package at a time, and remembers the answer while the content is the same.

The content of a catalog is named by its digest (`status.resolvedSource`), so an answer stays
right until that changes and a reconcile of an installed extension needs no request. Whole
catalogs are never copied; where a catalogd does not serve `/metas`, its `/all` is read as a
stream and only the lines of the package are kept.
"""

import asyncio
import logging
import ssl
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from api.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from olm_shared.errors import OLMError, TransientError, bounded
from olm_shared.kube_object import GVK, KubeObject, condition
from olm_shared.runtime.kube import KubeClient
from operator_controller.catalog import Package, build_package
from operator_controller.resolve import CatalogContent

CATALOG = GVK("olm.operatorframework.io", "v1", "ClusterCatalog")

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
MAX_CACHED_PACKAGES = 512
MAX_PACKAGE_BYTES = 64 * 1024 * 1024
"""Of one package's blobs; the largest real ones are a tenth of it."""

log = logging.getLogger(__name__)

CacheKey = tuple[str, str, str]
"""Catalog name, digest reference of its content, package."""


class CatalogUnavailableError(TransientError):
    """A catalog cannot be asked at the moment."""


@dataclass(frozen=True, slots=True)
class _Served:
    """A catalog that says it serves: where, and which content."""

    name: str
    base: str
    digest: str


class CatalogClient:
    """What catalogs say of packages."""

    def __init__(self, kube: KubeClient, tls: Callable[[], ssl.SSLContext]) -> None:
        """`tls` gives the context with the CAs to trust for catalogd."""
        self._kube = kube
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        self._http = httpx.AsyncClient(verify=tls(), timeout=timeout, follow_redirects=False)
        self._packages: OrderedDict[CacheKey, Package | None] = OrderedDict()
        self._asking: dict[CacheKey, asyncio.Future[Package | None]] = {}

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def list_catalogs(self) -> list[KubeObject]:
        """All ClusterCatalogs. Raises ApiError."""
        found, _ = await self._kube.list_all(CATALOG)
        return found

    async def contents(self, raws: list[KubeObject], package: str) -> list[CatalogContent]:
        """What each catalog that is available has of a package, asked side by side."""
        catalogs = [ClusterCatalog.from_object(raw) for raw in raws]
        available = [
            (catalog, raw)
            for catalog, raw in zip(catalogs, raws, strict=True)
            if catalog.spec.availability_mode is AvailabilityMode.AVAILABLE
        ]
        return list(await asyncio.gather(*(self._content(c, r, package) for c, r in available)))

    async def _content(
        self, catalog: ClusterCatalog, raw: KubeObject, package: str
    ) -> CatalogContent:
        name = catalog.metadata.name
        found: Package | None = None
        problem: OLMError | None = None
        try:
            found = await self._package(_served(catalog, raw), package)
        except OLMError as error:
            problem = error
        return CatalogContent(
            name=name,
            priority=catalog.spec.priority,
            labels=catalog.metadata.labels,
            package=found,
            unavailable=problem,
        )

    async def _package(self, served: _Served, package: str) -> Package | None:
        key = (served.name, served.digest, package)
        if key in self._packages:
            self._packages.move_to_end(key)
            return self._packages[key]
        if key not in self._asking:
            self._asking[key] = asyncio.ensure_future(self._ask(key, served, package))
            self._asking[key].add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(self._asking[key])

    async def _ask(self, key: CacheKey, served: _Served, package: str) -> Package | None:
        blobs = await self._fetch(served, package)
        found = await asyncio.to_thread(build_package, package, blobs) if blobs else None
        self._packages[key] = found
        while len(self._packages) > MAX_CACHED_PACKAGES:
            self._packages.popitem(last=False)
        return found

    async def _fetch(self, served: _Served, package: str) -> list[dict[str, Any]]:
        try:
            return await self._metas(served, package)
        except httpx.HTTPError as error:
            cause = bounded(str(error) or type(error).__name__)
            raise CatalogUnavailableError(
                f'catalog "{served.name}" cannot be read from {served.base}: {cause}',
                hint="check that catalogd runs and that its certificate is trusted "
                "(--catalogd-cas-dir)",
            ) from error

    async def _metas(self, served: _Served, package: str) -> list[dict[str, Any]]:
        url = f"{served.base}/api/v1/metas"
        async with self._http.stream("GET", url, params={"package": package}) as response:
            if response.status_code == httpx.codes.OK:
                return await _lines(response, lambda _: True)
            await response.aread()
            if not _metas_is_off(response):
                raise _unexpected(served, response)
        wanted = package.encode()
        async with self._http.stream("GET", f"{served.base}/api/v1/all") as response:
            if response.status_code != httpx.codes.OK:
                raise _unexpected(served, response)
            found = await _lines(response, lambda line: wanted in line)
        return [blob for blob in found if package in (blob.get("package"), blob.get("name"))]


def _served(catalog: ClusterCatalog, raw: KubeObject) -> _Served:
    name = catalog.metadata.name
    serving = condition(raw, "Serving")
    source, urls = catalog.status.resolved_source, catalog.status.urls
    if serving is None or serving.get("status") != "True" or source is None or urls is None:
        raise CatalogUnavailableError(
            f'catalog "{name}" is not being served',
            hint=f"see the conditions: kubectl describe clustercatalog {name}",
        )
    return _Served(name, urls.base, source.image.ref)


def _metas_is_off(response: httpx.Response) -> bool:
    """Upstream's catalogd answers for an unknown path, not for an unknown catalog."""
    return response.status_code == httpx.codes.NOT_FOUND and "page not found" in response.text


def _unexpected(served: _Served, response: httpx.Response) -> CatalogUnavailableError:
    return CatalogUnavailableError(
        f'catalog "{served.name}": received unexpected response status code '
        f"{response.status_code} from {served.base}"
    )


async def _lines(response: httpx.Response, wanted: Callable[[bytes], bool]) -> list[dict[str, Any]]:
    """The JSON lines that are wanted, decoded. Raises CatalogUnavailableError."""
    found: list[dict[str, Any]] = []
    size = 0
    pending = b""
    async for chunk in response.aiter_bytes():
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            if line and wanted(line):
                size += len(line)
                found.append(_decode(line))
        if size + len(pending) > MAX_PACKAGE_BYTES:
            raise CatalogUnavailableError(
                f"a package of more than {MAX_PACKAGE_BYTES} bytes is not read"
            )
    if pending.strip():
        found.append(_decode(pending))
    return found


def _decode(line: bytes) -> dict[str, Any]:
    try:
        blob = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise CatalogUnavailableError(f"catalogd sent a line that is no JSON: {error}") from error
    if not isinstance(blob, dict):
        raise CatalogUnavailableError("catalogd sent a line that is no JSON object")
    return blob
