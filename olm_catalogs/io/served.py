"""The content of a catalog image from a catalogd that serves it, without a pull.

Only answers count that name the image they are of. What cannot be had is no fault: the image is
pulled then.
"""

import logging
import ssl
from pathlib import Path

import httpx

from api.olm.v1.names import HEADER_RESOLVED_SOURCE
from olm_catalogs.job import ServedCatalogs
from olm_runtime.errors import TransientError
from olm_runtime.folders import remove_tree
from olm_runtime.http.proxied import http_client
from olm_runtime.http.transport_faults import reason
from olm_runtime.images.reference import digest_of

CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
CONTENT = "catalog.json"

log = logging.getLogger(__name__)


async def take(served: ServedCatalogs, digest: str, folder: Path, *, most: int) -> str:
    """Writes the content of an image to a file in a folder, which it makes.

    Gives the address that it came from; empty, without a folder, where it could not be had. `most`
    bytes are taken.
    """
    address = served.urls.get(digest, "")
    if not address:
        return ""
    _empty(folder)
    try:
        trust = ssl.create_default_context(cadata=served.authorities)
        timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        async with http_client(timeout, origin=trust) as http:
            await _download(http, address, digest, folder / CONTENT, most)
    except (httpx.HTTPError, TransientError, ssl.SSLError) as error:
        cause = reason(error) if isinstance(error, httpx.HTTPError) else str(error)
        log.warning("%s is pulled, because %s does not serve it: %s", digest, address, cause)
        remove_tree(folder)
        return ""
    return address


def _empty(folder: Path) -> None:
    remove_tree(folder)
    folder.mkdir(parents=True)


async def _download(
    http: httpx.AsyncClient, address: str, digest: str, file: Path, most: int
) -> None:
    """Raises httpx.HTTPError, TransientError."""
    headers = {"Accept-Encoding": "identity"}
    async with http.stream("GET", f"{address}/api/v1/all", headers=headers) as answer:
        if answer.status_code != httpx.codes.OK:
            raise TransientError(f"it answered {answer.status_code}")
        source = answer.headers.get(HEADER_RESOLVED_SOURCE, "")
        if digest_of(source) != digest:
            raise TransientError(f"it has {source or 'content of an image that it does not name'}")
        size = 0
        with file.open("wb") as out:
            async for piece in answer.aiter_bytes():
                size += len(piece)
                if size > most:
                    raise TransientError(f"the catalog has more than {most} bytes")
                out.write(piece)
