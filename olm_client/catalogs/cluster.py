"""The catalogs of a cluster: which there are, and their contents, fetched once for each digest.

Contents are asked for as `olm why` asks: through the API server's service proxy where the address
is one of the cluster's own. What is cached is named by the digest that the catalog resolved to.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.content import Content
from olm_client.reach import ClusterOptions, Reach
from olm_content.names import PACKAGE
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError, TerminalError, bounded
from olm_runtime.images.reference import digest_of

ANSWER_SECONDS, CONNECT_SECONDS = 300.0, 5.0


class Served(NamedTuple):
    """A ClusterCatalog: the digest of its content, empty without, and where it is served."""

    name: str
    digest: str
    base: str
    available: bool

    @classmethod
    def of(cls, catalog: Mapping[str, Any]) -> "Served":
        """What matters of the object."""
        status = catalog.get("status") or {}
        image = ((status.get("resolvedSource") or {}).get("image") or {}).get("ref", "")
        mode = (catalog.get("spec") or {}).get("availabilityMode", "Available")
        base = (status.get("urls") or {}).get("base", "")
        return cls(catalog["metadata"]["name"], digest_of(image), base, mode == "Available")


class Cluster(NamedTuple):
    """The catalogs of the cluster that a command reaches."""

    options: ClusterOptions

    def catalogs(self) -> list[Served]:
        """The catalogs that are switched on, by name. Raises OLMError."""
        from olm_client.catalogs.quick_list import quick_list

        found = quick_list(self.options.reach)
        if found is None:
            found = run_async(_listed(self.options.reach))
        served = (Served.of(catalog) for catalog in found)
        return sorted((each for each in served if each.available), key=lambda each: each.name)

    def content(self, catalog: Served, cache: ContentCache) -> Content:
        """The content of a catalog, fetched if it is not cache. Raises OLMError."""
        _check_served(catalog)
        content = cache.find(catalog.digest)
        if content is None:
            with cache.writing(catalog.digest) as writer:
                if not run_async(_fetch(self, catalog, writer.add)):
                    self._unchanged(catalog)
            content = cache.find(catalog.digest)
        if content is None:
            raise TerminalError(f'catalog "{catalog.name}" was removed from the cache meanwhile')
        return content

    def packages(self, catalog: Served, cache: ContentCache) -> list[str]:
        """The names of its packages, without fetching all of it. Raises OLMError."""
        _check_served(catalog)
        content = cache.find(catalog.digest)
        if content is not None:
            return list(content.digests())
        found: list[str] = []

        def take(line: bytes) -> None:
            found.append(str(orjson.loads(line).get("name")))

        try:
            run_async(_fetch(self, catalog, take, schema=PACKAGE))
        except TerminalError:  # such as a catalogd that answers whole catalogs only
            return list(self.content(catalog, cache).digests())
        return sorted(found)

    def _unchanged(self, catalog: Served) -> None:
        """What was fetched names no digest: it counts if the catalog is still the same."""
        if catalog not in self.catalogs():
            raise TerminalError(
                f'catalog "{catalog.name}" changed while it was read', hint="ask again"
            )


async def _listed(reach: Reach) -> list[dict[str, Any]]:
    from api.olm.v1.kinds import CATALOG
    from olm_runtime.kube.client import KubeClient

    async with KubeClient.briefly(reach.access()) as kube:
        found, _ = await kube.list_all(CATALOG)
    return found


def _check_served(catalog: Served) -> None:
    if not catalog.digest or not catalog.base:
        raise TerminalError(
            f'catalog "{catalog.name}" is not being served',
            hint=f"see what is in the way: olm catalog show {catalog.name}",
        )


async def _fetch(
    cluster: Cluster, catalog: Served, take: Callable[[bytes], None], *, schema: str = ""
) -> bool:
    """Hands over all blobs, or those of a schema; whether the answer named the digest of them.

    Raises OLMError.
    """
    import httpx

    from olm_runtime.http.proxied import http_client
    from olm_runtime.http.transport_faults import reason
    from olm_runtime.http.trust import registry_trust
    from operator_controller.io.catalog_addresses import proxy_path, server_of
    from operator_controller.io.replicas import ReplicaBehindError, answer_of, names_source

    server_of(catalog.name, catalog.base, allow_http=cluster.options.allow_http)
    path = proxy_path(catalog.base)
    headers: Sequence[tuple[str, str]] = ()
    if path is None:
        address, tls = catalog.base, registry_trust(cluster.options.cas_dir)
        hint = "check that catalogd runs and that its certificate is trusted (--catalogd-cas-dir)"
    else:
        access = cluster.options.reach.access()
        address, tls = access.server + path, access.tls()
        headers = access.headers()
        hint = (
            "it is asked through the API server: that needs the permission to get services/proxy "
            "in catalogd's namespace"
        )
    timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with http_client(timeout, origin=tls) as http:
            http.headers.update(headers)
            asked = {"schema": schema} if schema else None
            url = f"{address}/api/v1/{'metas' if schema else 'all'}"
            async with answer_of(http, url, catalog.digest, params=asked) as answer:
                await _refuse(answer)
                async for line in _lines(answer.aiter_bytes()):
                    take(line)
                return names_source(answer)
    except ReplicaBehindError as error:
        message = f'catalog "{catalog.name}" cannot be read from {address}: {error.message}'
        raise TerminalError(message, hint="ask again in a moment") from error
    except (OLMError, httpx.HTTPError, ValueError) as error:
        cause = reason(error) if isinstance(error, httpx.HTTPError) else bounded(str(error))
        message = f'catalog "{catalog.name}" cannot be read from {address}: {cause}'
        raise TerminalError(message, hint=hint) from error


async def _refuse(answer: Any) -> None:
    if answer.status_code != 200:
        await answer.aread()
        said = bounded(" ".join(answer.text.split()), 200)
        raise TerminalError(
            f"received unexpected response status code {answer.status_code}: {said}"
        )


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines that are not empty, whatever the pieces they arrive in."""
    pending: list[bytes] = []
    async for piece in pieces:
        first, *rest = piece.split(b"\n")
        pending.append(first)
        if rest:
            *whole, last = [b"".join(pending), *rest]
            pending = [last]
            for line in filter(bytes.strip, whole):
                yield line
    if (line := b"".join(pending)).strip():
        yield line
