"""What a catalogd of OLM v1 serves in this cluster, so that its images need not be pulled again."""

import asyncio
import base64
import binascii
import logging
from dataclasses import dataclass

from api.objects import GVK, KubeObject
from api.olm.v1.kinds import CATALOG
from olm_catalogs.job import ServedCatalogs
from olm_classic.catalog_sources.served import is_coming, url_of
from olm_runtime.certificates.content import AUTHORITIES_KEY
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError

SECRET = GVK("", "v1", "Secret")

COMING_SECONDS = 60.0
"""A catalogd that unpacks an image is waited for; a large one takes half of that."""
LOOK_SECONDS = 1.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Catalogd:
    """Who serves ClusterCatalogs. `secret` (namespace, name) has the CAs of its certificate."""

    client: KubeClient
    secret: tuple[str, str]

    async def served(self, image: str, digest: str) -> ServedCatalogs:
        """Where the image of a digest is served, which is named so in a CatalogSource.

        Waits a while where it is about to be. Nothing where that cannot be found out, which is
        logged.
        """
        try:
            url = await self._url(image, digest)
            if not url:
                return ServedCatalogs()
            return ServedCatalogs(urls={digest: url}, authorities=await self._authorities())
        except (ApiError, ValueError) as error:
            log.warning("images of catalogs that catalogd serves are pulled: %s", error)
            return ServedCatalogs()

    async def _url(self, image: str, digest: str) -> str:
        """Raises ApiError."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + COMING_SECONDS
        catalogs = await self._catalogs()
        while not (url := url_of(catalogs, digest)) and is_coming(catalogs, image, digest):
            if loop.time() > deadline:
                log.warning("%s: a ClusterCatalog has it, but catalogd says nothing of it", image)
                return ""
            await asyncio.sleep(LOOK_SECONDS)
            catalogs = await self._catalogs()
        return url

    async def _catalogs(self) -> list[KubeObject]:
        """All ClusterCatalogs; none where OLM v1 is not installed. Raises ApiError."""
        try:
            return (await self.client.list_all(CATALOG))[0]
        except NotFoundError:
            return []

    async def _authorities(self) -> str:
        """Certificates in PEM. Raises ApiError, ValueError."""
        namespace, name = self.secret
        found = await self.client.get(SECRET, name, namespace)
        data = (found.get("data") or {}).get(AUTHORITIES_KEY, "")
        try:
            text = base64.b64decode(data, validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError) as error:
            raise ValueError(f"Secret {namespace}/{name}: {AUTHORITIES_KEY} is no PEM") from error
        if not text:
            raise ValueError(f"Secret {namespace}/{name} has no {AUTHORITIES_KEY}")
        return text
