"""What a catalogd of OLM v1 serves in this cluster, so that its images need not be pulled again."""

import base64
import binascii
import logging
from dataclasses import dataclass

from api.objects import GVK, KubeObject
from olm_catalogs.job import ServedCatalogs
from olm_classic.catalog_sources.served import urls_by_digest
from olm_classic.kinds import CLUSTER_CATALOG
from olm_runtime.certificates.content import AUTHORITIES_KEY
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError

SECRET = GVK("", "v1", "Secret")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Catalogd:
    """Who serves ClusterCatalogs. `secret` (namespace, name) has the CAs of its certificate."""

    client: KubeClient
    secret: tuple[str, str]

    async def served(self) -> ServedCatalogs:
        """What is served now; nothing where that cannot be found out, which is logged."""
        try:
            urls = urls_by_digest(await self._catalogs())
            authorities = await self._authorities() if urls else ""
            return ServedCatalogs(urls=urls, authorities=authorities)
        except (ApiError, ValueError) as error:
            log.warning("images of catalogs that catalogd serves are pulled: %s", error)
            return ServedCatalogs()

    async def _catalogs(self) -> list[KubeObject]:
        """All ClusterCatalogs; none where OLM v1 is not installed. Raises ApiError."""
        try:
            return (await self.client.list_all(CLUSTER_CATALOG))[0]
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
