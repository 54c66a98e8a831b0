"""Where a catalog is served, and what comes of asking there.

Apart from what asks: commands that know the answer already import no client of HTTP.
"""

from typing import NamedTuple
from urllib.parse import urlsplit

from olm_runtime.errors import TransientError, bounded

DEFAULT_PORTS = {"https": 443, "http": 80}


class CatalogUnavailableError(TransientError):
    """A catalog cannot be asked at the moment."""


class CatalogBehindError(CatalogUnavailableError):
    """catalogd does not have the newest content of a catalog yet."""


class Address(NamedTuple):
    """A catalog, where it is served, and the source of the content to read from it."""

    catalog: str
    base: str
    source: str


class Blobs(NamedTuple):
    """What is cached of a package: a JSON line for each blob, in the catalog's order."""

    lines: tuple[bytes, ...]
    etag: str = ""


def server_of(catalog: str, base: str, *, allow_http: bool) -> str:
    """The host, and the port if it is named, that a catalog's status has us ask.

    Raises CatalogUnavailableError for what is no HTTPS, unless HTTP is allowed.
    """
    fault = f'catalog "{catalog}" is not read: its status.urls.base, {bounded(base)}, '
    try:
        url = urlsplit(base)
        server = f"{url.hostname}:{url.port}" if url.port else url.hostname
    except ValueError:
        server = None
    if not server or url.scheme not in ("https", "http"):
        raise CatalogUnavailableError(f"{fault}is no address of HTTPS")
    if url.scheme == "http" and not allow_http:
        raise CatalogUnavailableError(
            f"{fault}has no TLS: anybody between {server} and us could change what it says",
            hint="have it served over HTTPS, or allow this with --allow-http-catalogs",
        )
    return server


def proxy_path(base: str) -> str | None:
    """The path of the API server's proxy to a Service's address; None for any other address."""
    url = urlsplit(base)
    parts = (url.hostname or "").split(".")
    if len(parts) < 3 or parts[2] != "svc":
        return None
    service, namespace = parts[:2]
    port = url.port or DEFAULT_PORTS[url.scheme]
    return f"/api/v1/namespaces/{namespace}/services/{url.scheme}:{service}:{port}/proxy{url.path}"
